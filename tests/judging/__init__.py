"""What the judge is made of: inputs, two ways to run a model, validity, losses. Nothing here knows how conversion works."""
