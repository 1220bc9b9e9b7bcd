"""Deciding how a model reaches a target: types, lift, regions, legalize, judge; nothing here changes a model but ``apply``."""
