from fullspan.learn.layered.options import LayerOptions as LayerOptions
from fullspan.learn.layered.pretrain import pretrained as pretrained
