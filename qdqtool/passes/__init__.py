"""Passes over a model that keep its opset and dialects: each makes plan entries, which `plan.apply` carries out."""
