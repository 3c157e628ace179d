# SPDX-License-Identifier: Apache-2.0
"""What scripts of Glue jobs import as awsglue: arguments, the context, the job, dynamic frames as a thin coat over data frames."""
