"""The columns that several tables share."""

from concord.glossary import explain
from concord.table import Column

RATER = Column("rater", "Judge or panel")
N = Column("n", help="Items that the figures rest on.")
SPEARMAN = Column("spearman", "Spearman's ρ", digits=3, interval="ends", help=explain("Spearman correlation"))
P = Column("p", digits=4, least=0.0001, help="Two-sided p of Spearman's ρ by Student's t approximation.")
KENDALL = Column("kendall", "Kendall's τ-b", digits=3, interval="ends", help=explain("tau-b"))
PEARSON = Column("pearson", "Pearson's r", digits=3, interval="ends", help=explain("Pearson correlation"))
BIAS = Column("bias", "Bias (points)", interval="ends", signed=True, help=explain("bias"))
MAE = Column("mae", "MAE (points)", interval="ends", help=explain("MAE"))
KAPPA = Column("kappa", "κ", digits=3, interval="ends", help=explain("Cohen's kappa"))
ACCURACY = Column("accuracy", "Equal answers", percent=True, interval="ends")
