# SPDX-License-Identifier: Apache-2.0
"""Other people's suites against firn, through the scripts in FIRN_SUITES (make test-long; skipped where a suite's own source is not there).

Each script closes with `N passed, N failed, N skipped`.  What is known to differ, and why, is in the lists below; everything else must pass."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import boto3
import pytest

from conftest import Server

SUITES = os.environ.get("FIRN_SUITES")
SOURCES = pathlib.Path(os.environ.get("SUITES_HOME", pathlib.Path.home() / ".cache" / "firn-suites")) / "src"
pytestmark = [pytest.mark.long, pytest.mark.skipif(not SUITES, reason="FIRN_SUITES is not set")]

S3_DIFFERENT = {
    "test_object_set_get_unicode_metadata": "the client reads header bytes as Latin-1; the bytes come back as they were sent",
    "test_object_read_unreadable": "the key is valid UTF-8: absent, not malformed",
    "test_object_create_bad_contentlength_none": "the client adds the header again: the test cannot send what it means",
    "test_list_buckets_paginated": "wants an account without buckets; the warehouse's is there",
}
PYICEBERG_DIFFERENT = {
    "test_add_files_with_timestamp_tz_ns_fails": "writes outside of the table's prefix with credentials vended for it: refused",
    "test_rest_custom_namespace_separator": "needs a server whose separator is a dot: names with dots would be unreachable",
}


def because(reason, names):
    return dict.fromkeys(names.split(), reason)


# By service of moto's suites.
MOTO_DIFFERENT = {
    "athena": {
        **because("starts the text \"query1\", which does not parse: AWS refuses it at once", """
            test_start_query_execution test_start_query_execution_without_result_configuration test_list_query_executions test_list_query_executions_by_workgroup
            test_list_query_executions_by_workgroup_when_none_match test_get_query_runtime_statistics_with_execution_id"""),
        **because("SELECT of a column that is nowhere succeeds there, and is still running when it is stopped", """
            test_get_query_execution test_stop_query_execution"""),
        **because("AwsDataCatalog is listed among the catalogs, as AWS does", """
            test_create_data_catalog"""),
        **because("an execution that is not there has no results", """
            test_get_query_results test_get_query_results_queue"""),
        **because("wants InvalidArgumentException, which Athena has not", """
            test_update_capacity_reservation"""),
        **because("a catalog that is not there is an error", """
            test_list_databases_empty_catalog"""),
        **because("makes a catalog of type GLUE without the catalog-id that AWS asks for, and wants it to be one of its own", """
            test_create_database_with_catalog_context"""),
    },
    "iam": {
        **because("the suite has words of its own for it", """
            test_get_role__should_throw__when_role_does_not_exist test_get_instance_profile__should_throw__when_instance_profile_does_not_exist test_create_user
            test_delete_nonexistent_login_profile test_create_login_profile__duplicate test_delete_service_linked_role test_create_group test_get_group
            test_add_user_to_unknown_group test_remove_user_from_unknown_group test_get_group_policy test_update_group_with_existing_name
            test_create_open_id_connect_provider_errors"""),
        **because("makes a role whose trust policy is no policy: MalformedPolicyDocument on AWS", """
            test_get_role__should_contain_last_used test_delete_instance_profile test_delete_role test_attach_detach_role_policy test_only_detach_role_policy
            test_create_role_defaults test_create_role_with_tags test_tag_role test_untag_role test_update_role_description test_update_role
            test_update_role_defaults test_list_entities_for_policy test_create_role_no_path test_create_role_with_permissions_boundary
            test_create_role_with_same_name_should_fail test_get_account_summary test_list_roles_with_more_than_100_roles_no_max_items_defaults_to_100
            test_list_roles_max_item_and_marker_values_adhered test_list_roles_path_prefix_value_adhered test_list_roles test_mark_role_as_last_used"""),
        **because("paths begin and end with a slash on AWS", """
            test_create_role_and_instance_profile test_remove_role_from_instance_profile test_list_instance_profiles test_list_instance_profiles_for_role
            test_list_role_policies test_put_role_policy test_get_role_policy test_update_assume_role_invalid_policy test_update_assume_role_valid_policy
            test_update_assume_role_invalid_policy_bad_action test_update_assume_role_invalid_policy_with_resource test_list_users
            test_invoking_ec2_mark_access_key_as_used test_update_group_name_that_has_a_path test_update_group_path"""),
        **because("AWS documents that CreatePolicyVersion and ListPolicyVersions return no document", """
            test_create_policy_versions test_set_default_policy_version test_list_policy_versions"""),
        **because("a marker is opaque, no number", """
            test_list_policy_tags_pagination test_list_virtual_mfa_devices test_list_virtual_mfa_devices_errors test_list_roles_none_found_returns_empty_list"""),
        **because("the caller is the account root, no user", """
            test_get_current_user"""),
        **because("its user has no policy that allows what it does", """
            test_create_access_key test_list_access_keys test_get_access_key_last_used_when_used"""),
        **because("a key without a user name is one of the caller itself", """
            test_delete_access_key test_update_access_key"""),
        **because("wants the braces of its own template", """
            test_create_virtual_mfa_device_errors"""),
        **because("asks a service that is not here", """
            test_role_config_client test_policy_config_client"""),
        **because("signs at a time long ago", """
            test_add_user_to_group"""),
        **because("more tags than the 50 that AWS allows", """
            test_list_open_id_connect_provider_tags__paginated"""),
    },
    "sts": {
        **because("signs at a time long ago", """
            test_get_session_token test_get_federation_token test_assume_role"""),
        **because("identities of SAML and OpenID Connect providers are not verified here: refused", """
            test_assume_role_with_saml test_assume_role_with_saml_should_not_rely_on_attribute_order test_assume_role_with_saml_should_respect_xml_namespaces
            test_assume_role_with_saml_when_xml_tag_contains_xmlns_attributes test_assume_role_with_saml_when_saml_attribute_not_provided
            test_assume_role_with_web_identity test_assume_role_with_saml_in_different_account"""),
        **because("the caller is the account root, no user", """
            test_get_caller_identity_with_default_credentials test_sts_regions"""),
        **because("there is one partition, aws", """
            test_get_caller_identity_with_iam_user_credentials test_get_caller_identity_with_assumed_role_credentials"""),
        **because("sends temporary keys without their token", """
            test_get_caller_identity_with_assumed_role_credentials"""),
        **because("the key is of no account here", """
            test_get_access_key_info_default"""),
        **because("there is one account", """
            test_assume_role_in_different_account"""),
        **because("asks a service that is not here", """
            test_dynamodb_supports_multiple_accounts"""),
    },
    "lakeformation": {                     # test_resource_tags_integration, whose tests were checked against AWS by their authors, passes whole
        **because("registers what is no S3 location: InvalidInputException on AWS", """
            test_register_resource test_describe_resource test_deregister_resource test_list_resources"""),
        **because("the principal is no ARN: AWS says Invalid principal", """
            test_data_lake_settings test_grant_permissions test_grant_permissions_idempotent test_grant_permissions_staggered test_list_permissions
            test_list_permissions_invalid_input test_list_permissions_filtered_for_catalog_id test_list_permissions_filtered_for_resource_type
            test_list_permissions_filtered_for_resource_db test_list_permissions_filtered_for_resource_table test_list_permissions_filtered_for_resource_data_location
            test_revoke_permissions test_revoke_permissions_unknown_catalog_id test_batch_revoke_permissions"""),
    },
    "s3tables": {
        "test_update_table_metadata_location": "wants a location that does not end with .metadata.json; AWS documents that it must",
        "test_write_metadata_to_table": "wants a pointer to a file that is not table metadata: the table could not be read",
        "test_rename_table": "wants a namespace with a hyphen; AWS allows [0-9a-z_]",
    },
}

ICEBERG_RUST_DIFFERENT = {
    "test_catalog_namespace_lifecycle": "the client never sends a namespace's properties and then looks for them",
    "test_catalog_table_lifecycle": "the client itself refuses drop_table",
}


def summary(r):
    m = re.findall(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", r.stdout)
    assert m, r.stdout[-2000:] + r.stderr[-2000:]
    return int(m[-1][0]), int(m[-1][1]), r.stdout


def unexpected(text, known):
    failed = [line for line in text.splitlines() if line.startswith("FAILED ")]
    return [line for line in failed if not any(re.search(rf"\b{name}\b", line) for name in known)]


@pytest.mark.skipif(not shutil.which("mvn") or not shutil.which("java"), reason="needs Java and Maven")
def test_iceberg_rest_compatibility_kit(tmp_path):
    s = Server(tmp_path / "data", ["auth.iceberg=off", f"iceberg.file_root={'/tmp'}", f"warehouse=file:{tmp_path}/warehouse"])
    r = subprocess.run([f"{SUITES}/rck/run", f"{s.lake}/iceberg", "123456789012", "rck.requires-namespace-create=true"], capture_output=True, text=True, timeout=1500)
    passed, failed, text = summary(r)
    s.stop()
    assert failed == 0 and passed >= 144, text[-3000:]


@pytest.mark.skipif(not (SOURCES / "s3-tests").exists(), reason="needs a checkout of s3-tests")
def test_s3_tests(tmp_path):
    s = Server(tmp_path / "data")
    r = subprocess.run([f"{SUITES}/s3tests/run", s.lake, s.key, s.secret], capture_output=True, text=True, timeout=1800)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= 235 and not unexpected(text, S3_DIFFERENT), text[-3000:]


@pytest.mark.skipif(not (SOURCES / "iceberg-python").exists(), reason="needs a checkout of iceberg-python")
def test_pyiceberg(tmp_path):
    s = Server(tmp_path / "data", ["auth.iceberg=off", "warehouse=s3://warehouse"])
    s.s3().create_bucket(Bucket="warehouse")
    r = subprocess.run([f"{SUITES}/pyiceberg/run", f"{s.lake}/iceberg"], capture_output=True, text=True, timeout=1800)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= 560 and not unexpected(text, PYICEBERG_DIFFERENT), text[-3000:]


def moto(tmp_path, service, least):
    s = Server(tmp_path / "data", ["test.reset=on", "root.access_key_id=FOOBARKEY", "root.secret_access_key=FOOBARSECRET"])
    env = {**os.environ, "MOTO_RESET": f"{s.manage}/reset"}
    r = subprocess.run([f"{SUITES}/moto/run", s.lake.rsplit(":", 1)[1], service], capture_output=True, text=True, timeout=900, env=env)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= least and not unexpected(text, MOTO_DIFFERENT.get(service, {})), text[-3000:]


needs_moto = pytest.mark.skipif(not (SOURCES / "moto").exists(), reason="needs a checkout of moto")


@needs_moto
def test_moto_s3tables(tmp_path):
    moto(tmp_path, "s3tables", 25)


@needs_moto
def test_moto_iam(tmp_path):
    moto(tmp_path, "iam", 265)


@needs_moto
def test_moto_sts(tmp_path):
    moto(tmp_path, "sts", 4)


@needs_moto
def test_moto_lakeformation(tmp_path):
    moto(tmp_path, "lakeformation", 1)


@needs_moto
def test_moto_athena(tmp_path):
    moto(tmp_path, "athena", 35)


@pytest.mark.skipif(not shutil.which("cargo") or not (SOURCES / "iceberg-rust" / "target").exists(), reason="needs a checkout of iceberg-rust where `cargo test -p iceberg-catalog-loader --no-run` was run")
def test_iceberg_rust_s3tables(tmp_path):
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import forward_proxy
    s = Server(tmp_path / "data", ["lake.domain=s3.test"])
    port = int(s.lake.rsplit(":", 1)[1])
    keys = {"aws_access_key_id": s.key, "aws_secret_access_key": s.secret}
    arn = boto3.client("s3tables", endpoint_url=s.lake, region_name="us-east-1", **keys).create_table_bucket(name="rust-suite")["arn"]
    proxy = f"http://127.0.0.1:{forward_proxy.start(('127.0.0.1', port))}"
    env = {**os.environ, **{k.upper(): v for k, v in keys.items()}, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "TABLE_BUCKET_ARN": arn, "S3TABLES_ENDPOINT_URL": s.lake,
           "AWS_ENDPOINT_URL": f"http://s3.test:{port}", "HTTP_PROXY": proxy, "http_proxy": proxy, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "RUSTUP_TOOLCHAIN": "stable"}
    r = subprocess.run(["cargo", "test", "--offline", "--no-fail-fast", "-p", "iceberg-catalog-loader", "--", "s3tables"], cwd=SOURCES / "iceberg-rust", env=env,
                       capture_output=True, text=True, timeout=1500)
    s.stop()
    results = re.findall(r"^test (\S*s3tables\S*) \.\.\. (ok|FAILED)$", r.stdout, re.M)
    failed = [n for n, how in results if how != "ok" and not any(k in n for k in ICEBERG_RUST_DIFFERENT)]
    assert len(results) >= 24 and not failed, r.stdout[-3000:] + r.stderr[-1000:]
