from fullspan.people.web.explorer import Explorer as Explorer
from fullspan.people.web.guard import Guard as Guard
from fullspan.people.web.neighbourhoods import Neighbourhoods as Neighbourhoods
from fullspan.people.web.server import guarded_app as guarded_app
from fullspan.people.web.server import host_names as host_names
from fullspan.people.web.server import is_loopback as is_loopback
from fullspan.people.web.server import server_config as server_config
from fullspan.people.web.worker import Pool as Pool
