# SPDX-License-Identifier: Apache-2.0
"""Transforms as classes with apply(), each by the method of DynamicFrame that does it."""


class _Transform:
    method = None

    @classmethod
    def apply(cls, frame, **arguments):
        arguments.pop("transformation_ctx", None)
        return getattr(frame, cls.method)(**arguments)


class ApplyMapping(_Transform):
    method = "apply_mapping"


class SelectFields(_Transform):
    method = "select_fields"


class DropFields(_Transform):
    method = "drop_fields"


class RenameField(_Transform):
    @classmethod
    def apply(cls, frame, old_name, new_name, **more):
        return frame.rename_field(old_name, new_name)


class Filter(_Transform):
    method = "filter"


class Join:
    @classmethod
    def apply(cls, frame1, frame2, keys1, keys2, **more):
        return frame1.join(keys1, keys2, frame2)
