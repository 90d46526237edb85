from fullspan.data.relations.columns import Key as Key
from fullspan.data.relations.duck import DuckRelation as DuckRelation
from fullspan.data.relations.duck import translated as translated
from fullspan.data.relations.files import connect as connect
from fullspan.data.relations.tokens import read_tokens as read_tokens
