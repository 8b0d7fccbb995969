"""The metrics as `gf.metrics`: every function under its own name, wherever its file is."""

from glassformer.metrics.accuracy import accuracy as accuracy
from glassformer.metrics.bleu import Score as Score
from glassformer.metrics.bleu import bleu as bleu
from glassformer.metrics.bleu import chrf as chrf
from glassformer.metrics.bleu import ter as ter
from glassformer.metrics.calibration import calibration as calibration
from glassformer.metrics.confusion import confusion as confusion
from glassformer.metrics.confusion import most_confused as most_confused
from glassformer.metrics.exact import exact_match as exact_match
from glassformer.metrics.f1 import f1 as f1
from glassformer.metrics.forecast import direction as direction
from glassformer.metrics.forecast import mae as mae
from glassformer.metrics.forecast import mase as mase
from glassformer.metrics.forecast import mse as mse
from glassformer.metrics.forensics import forensics as forensics
from glassformer.metrics.interval import wilson as wilson
from glassformer.metrics.outputs import Outputs as Outputs
from glassformer.metrics.perplexity import bits_per_character as bits_per_character
from glassformer.metrics.perplexity import perplexity as perplexity
