from fullspan.learn.wide.fit import WideOptions as WideOptions
from fullspan.learn.wide.fit import fit_wide as fit_wide
