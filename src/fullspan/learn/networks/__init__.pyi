from fullspan.learn.networks.families import Families as Families
from fullspan.learn.networks.posterior import STRENGTHS as STRENGTHS
from fullspan.learn.networks.posterior import Networks as Networks
from fullspan.learn.networks.posterior import Spread as Spread
from fullspan.learn.networks.posterior import draw_networks as draw_networks
from fullspan.learn.networks.search import learn_network as learn_network
