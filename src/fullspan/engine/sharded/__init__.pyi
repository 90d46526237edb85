from fullspan.engine.sharded.shards import Shards as Shards
from fullspan.engine.sharded.table import ShardedTable as ShardedTable
from fullspan.engine.sharded.table import program as program
