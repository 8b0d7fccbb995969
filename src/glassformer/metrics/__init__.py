"""The metrics, `gf.metrics`: every function under its own name, whatever its file."""

from glassformer.metrics.classification import accuracy as accuracy
from glassformer.metrics.classification import calibration as calibration
from glassformer.metrics.classification import confusion as confusion
from glassformer.metrics.classification import f1 as f1
from glassformer.metrics.classification import most_confused as most_confused
from glassformer.metrics.forecasting import direction as direction
from glassformer.metrics.forecasting import mae as mae
from glassformer.metrics.forecasting import mase as mase
from glassformer.metrics.forecasting import mse as mse
from glassformer.metrics.interval import wilson as wilson
from glassformer.metrics.language import bits_per_character as bits_per_character
from glassformer.metrics.language import perplexity as perplexity
from glassformer.metrics.translation import Outputs as Outputs
from glassformer.metrics.translation import Score as Score
from glassformer.metrics.translation import bleu as bleu
from glassformer.metrics.translation import chrf as chrf
from glassformer.metrics.translation import exact_match as exact_match
from glassformer.metrics.translation import forensics as forensics
from glassformer.metrics.translation import ter as ter
