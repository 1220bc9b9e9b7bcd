"""What the profiles of other runtimes find: one model for each thing they are known to refuse or to compute otherwise.

They are run only in OpenVINO and QNN (``test_installed``): what is tested is that the sources' words become findings.
"""
