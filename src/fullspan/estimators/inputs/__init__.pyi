from fullspan.estimators.inputs.evidence import hidden_variables as hidden_variables
from fullspan.estimators.inputs.reading import READING as READING
from fullspan.estimators.inputs.reading import Reading as Reading
from fullspan.estimators.inputs.shared_parameters import documented as documented
