"""What the extension adds: names of measures, as other packages write them."""

from karat.extension import Extension

EXTENSION = Extension(
    "peer_names",
    "Read the names of measures of ranx, ir_measures, pytrec_eval and trec_eval.",
    adds={
        "measure_name": {
            "ranx": "karat.extensions.peer_names.ranx_names:translate",
            "trec_eval": "karat.extensions.peer_names.trec_names:translate",
            "ir_measures": "karat.extensions.peer_names.ir_measures_names:translate",
        }
    },
    needs=("trec_eval",),
)
