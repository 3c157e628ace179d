# SPDX-License-Identifier: Apache-2.0
"""Job: init and commit, as scripts frame their work. Bookmarks are not kept: every run sees all of its input."""


class Job:
    def __init__(self, glue_context=None):
        self._context = glue_context
        self._name, self._initialised = None, False

    def init(self, job_name, args=None):
        self._name, self._initialised = job_name, True

    def isInitialized(self):
        return self._initialised

    def commit(self):
        if not self._initialised:
            raise RuntimeError("Job.commit before Job.init")

    @property
    def name(self):
        return self._name
