"""The implementations of :class:`fullspan.query.distribution.Distribution`, one module for each kind of model."""
