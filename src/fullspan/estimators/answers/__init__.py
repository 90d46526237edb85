"""What fitted models and networks answer, by subject: mixins over ``distribution_``, and what they stand on."""
