"""The linter: what rules see of a model, and how their findings are collected, silenced and mended."""
