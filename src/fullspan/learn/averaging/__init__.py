"""Bootstrap fits of one model, averaged as distributions, with the likelihood of what each fit has not seen."""
