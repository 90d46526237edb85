from fullspan.learn.layered.fit import Data as Data
from fullspan.learn.layered.fit import first_machine as first_machine
from fullspan.learn.layered.gradient import Ascent as Ascent
from fullspan.learn.layered.options import LayerOptions as LayerOptions
from fullspan.learn.layered.pretrain import pretrained as pretrained
from fullspan.learn.layered.train import Rows as Rows
from fullspan.learn.layered.train import Trainer as Trainer
