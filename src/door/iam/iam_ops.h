/* SPDX-License-Identifier: Apache-2.0 */
/* iam_ops.h - the operations of IAM: OP(name, fields), RECORD(the same, of what is kept and given back and nothing uses),
 * NONE(name, why it is not supported).  Included where they become prototypes and rows.
 * Fields are Smithy's of the IAM API, 2010-05-08. */
#define NAME_U "s1-64"
#define NAME_R "s1-64"
#define NAME_G "s1-128"
#define NAME_P "s1-128"
#define ARN "s20-2048"
#define PAGE ", Marker s1-320, MaxItems i1-1000"
#define TAGS ", Tags [{Tag}]"
#define DOC "s1-131072"

/* users */
OP(CreateUser, "UserName! " NAME_U ", Path s1-512, PermissionsBoundary s" TAGS)
OP(GetUser, "UserName s1-128")
OP(UpdateUser, "UserName! s1-128, NewPath s1-512, NewUserName " NAME_U)
OP(DeleteUser, "UserName! s1-128")
OP(ListUsers, "PathPrefix s1-512" PAGE)
OP(TagUser, "UserName! s1-128, Tags! [{Tag}]")
OP(UntagUser, "UserName! s1-128, TagKeys! [s]")
OP(ListUserTags, "UserName! s1-128" PAGE)
OP(PutUserPermissionsBoundary, "UserName! s1-128, PermissionsBoundary! s")
OP(DeleteUserPermissionsBoundary, "UserName! s1-128")
OP(ListGroupsForUser, "UserName! s1-128" PAGE)

/* groups */
OP(CreateGroup, "GroupName! " NAME_G ", Path s1-512")
OP(GetGroup, "GroupName! " NAME_G PAGE)
OP(UpdateGroup, "GroupName! " NAME_G ", NewPath s1-512, NewGroupName " NAME_G)
OP(DeleteGroup, "GroupName! " NAME_G)
OP(ListGroups, "PathPrefix s1-512" PAGE)
OP(AddUserToGroup, "GroupName! " NAME_G ", UserName! s1-128")
OP(RemoveUserFromGroup, "GroupName! " NAME_G ", UserName! s1-128")

/* roles */
OP(CreateRole, "RoleName! " NAME_R ", AssumeRolePolicyDocument! " DOC ", Path s1-512, Description s0-1000, MaxSessionDuration i3600-43200, PermissionsBoundary s" TAGS)
OP(GetRole, "RoleName! " NAME_R)
OP(UpdateRole, "RoleName! " NAME_R ", Description s0-1000, MaxSessionDuration i3600-43200")
OP(UpdateRoleDescription, "RoleName! " NAME_R ", Description! s0-1000")
OP(UpdateAssumeRolePolicy, "RoleName! " NAME_R ", PolicyDocument! " DOC)
OP(DeleteRole, "RoleName! " NAME_R)
OP(ListRoles, "PathPrefix s1-512" PAGE)
OP(TagRole, "RoleName! " NAME_R ", Tags! [{Tag}]")
OP(UntagRole, "RoleName! " NAME_R ", TagKeys! [s]")
OP(ListRoleTags, "RoleName! " NAME_R PAGE)
OP(PutRolePermissionsBoundary, "RoleName! " NAME_R ", PermissionsBoundary! s")
OP(DeleteRolePermissionsBoundary, "RoleName! " NAME_R)
OP(CreateServiceLinkedRole, "AWSServiceName! s1-128, Description s0-1000, CustomSuffix s1-64")
OP(DeleteServiceLinkedRole, "RoleName! " NAME_R)
OP(GetServiceLinkedRoleDeletionStatus, "DeletionTaskId! s1-1000")

/* instance profiles */
OP(CreateInstanceProfile, "InstanceProfileName! " NAME_P ", Path s1-512" TAGS)
OP(GetInstanceProfile, "InstanceProfileName! " NAME_P)
OP(DeleteInstanceProfile, "InstanceProfileName! " NAME_P)
OP(ListInstanceProfiles, "PathPrefix s1-512" PAGE)
OP(ListInstanceProfilesForRole, "RoleName! " NAME_R PAGE)
OP(AddRoleToInstanceProfile, "InstanceProfileName! " NAME_P ", RoleName! " NAME_R)
OP(RemoveRoleFromInstanceProfile, "InstanceProfileName! " NAME_P ", RoleName! " NAME_R)
OP(TagInstanceProfile, "InstanceProfileName! " NAME_P ", Tags! [{Tag}]")
OP(UntagInstanceProfile, "InstanceProfileName! " NAME_P ", TagKeys! [s]")
OP(ListInstanceProfileTags, "InstanceProfileName! " NAME_P PAGE)

/* inline policies */
OP(PutUserPolicy, "UserName! s1-128, PolicyName! s1-128, PolicyDocument! " DOC)
OP(GetUserPolicy, "UserName! s1-128, PolicyName! s1-128")
OP(DeleteUserPolicy, "UserName! s1-128, PolicyName! s1-128")
OP(ListUserPolicies, "UserName! s1-128" PAGE)
OP(PutRolePolicy, "RoleName! " NAME_R ", PolicyName! s1-128, PolicyDocument! " DOC)
OP(GetRolePolicy, "RoleName! " NAME_R ", PolicyName! s1-128")
OP(DeleteRolePolicy, "RoleName! " NAME_R ", PolicyName! s1-128")
OP(ListRolePolicies, "RoleName! " NAME_R PAGE)
OP(PutGroupPolicy, "GroupName! " NAME_G ", PolicyName! s1-128, PolicyDocument! " DOC)
OP(GetGroupPolicy, "GroupName! " NAME_G ", PolicyName! s1-128")
OP(DeleteGroupPolicy, "GroupName! " NAME_G ", PolicyName! s1-128")
OP(ListGroupPolicies, "GroupName! " NAME_G PAGE)

/* managed policies */
OP(AttachUserPolicy, "UserName! s1-128, PolicyArn! " ARN)
OP(DetachUserPolicy, "UserName! s1-128, PolicyArn! " ARN)
OP(ListAttachedUserPolicies, "UserName! s1-128, PathPrefix s1-512" PAGE)
OP(AttachRolePolicy, "RoleName! " NAME_R ", PolicyArn! " ARN)
OP(DetachRolePolicy, "RoleName! " NAME_R ", PolicyArn! " ARN)
OP(ListAttachedRolePolicies, "RoleName! " NAME_R ", PathPrefix s1-512" PAGE)
OP(AttachGroupPolicy, "GroupName! " NAME_G ", PolicyArn! " ARN)
OP(DetachGroupPolicy, "GroupName! " NAME_G ", PolicyArn! " ARN)
OP(ListAttachedGroupPolicies, "GroupName! " NAME_G ", PathPrefix s1-512" PAGE)
OP(CreatePolicy, "PolicyName! s1-128, PolicyDocument! " DOC ", Path s1-512, Description s0-1000" TAGS)
OP(GetPolicy, "PolicyArn! " ARN)
OP(DeletePolicy, "PolicyArn! " ARN)
OP(ListPolicies, "Scope e(All|AWS|Local), OnlyAttached b, PathPrefix s1-512, PolicyUsageFilter e(PermissionsPolicy|PermissionsBoundary)" PAGE)
OP(CreatePolicyVersion, "PolicyArn! " ARN ", PolicyDocument! " DOC ", SetAsDefault b")
OP(GetPolicyVersion, "PolicyArn! " ARN ", VersionId! s")
OP(DeletePolicyVersion, "PolicyArn! " ARN ", VersionId! s")
OP(ListPolicyVersions, "PolicyArn! " ARN PAGE)
OP(SetDefaultPolicyVersion, "PolicyArn! " ARN ", VersionId! s")
OP(TagPolicy, "PolicyArn! " ARN ", Tags! [{Tag}]")
OP(UntagPolicy, "PolicyArn! " ARN ", TagKeys! [s]")
OP(ListPolicyTags, "PolicyArn! " ARN PAGE)
OP(ListEntitiesForPolicy, "PolicyArn! " ARN ", EntityFilter e(User|Role|Group|LocalManagedPolicy|AWSManagedPolicy), PathPrefix s1-512, PolicyUsageFilter e(PermissionsPolicy|PermissionsBoundary)" PAGE)

/* access keys, passwords */
OP(CreateAccessKey, "UserName s1-128")
OP(UpdateAccessKey, "UserName s1-128, AccessKeyId! s16-128, Status! e(Active|Inactive|Expired)")
OP(DeleteAccessKey, "UserName s1-128, AccessKeyId! s16-128")
OP(ListAccessKeys, "UserName s1-128" PAGE)
OP(GetAccessKeyLastUsed, "AccessKeyId! s16-128")
RECORD(CreateLoginProfile, "UserName s1-128, Password s1-128, PasswordResetRequired b")
RECORD(GetLoginProfile, "UserName s1-128")
RECORD(UpdateLoginProfile, "UserName! s1-128, Password s1-128, PasswordResetRequired b")
RECORD(DeleteLoginProfile, "UserName s1-128")

/* the account */
OP(CreateAccountAlias, "AccountAlias! s3-63")
OP(DeleteAccountAlias, "AccountAlias! s3-63")
OP(ListAccountAliases, "Marker s1-320, MaxItems i1-1000")
OP(UpdateAccountPasswordPolicy, "MinimumPasswordLength i, RequireSymbols b, RequireNumbers b, RequireUppercaseCharacters b, RequireLowercaseCharacters b, "
   "AllowUsersToChangePassword b, MaxPasswordAge i, PasswordReusePrevention i, HardExpiry b")
OP(GetAccountPasswordPolicy, "")
OP(DeleteAccountPasswordPolicy, "")
OP(GetAccountSummary, "")
OP(GetAccountAuthorizationDetails, "Filter [e(User|Role|Group|LocalManagedPolicy|AWSManagedPolicy)]" PAGE)
OP(GenerateCredentialReport, "")
OP(GetCredentialReport, "")

/* what would be allowed */
OP(SimulatePrincipalPolicy, "PolicySourceArn! " ARN ", PolicyInputList [s], PermissionsBoundaryPolicyInputList [s], ActionNames! [s], ResourceArns [s], ResourcePolicy s, ResourceOwner s, "
   "CallerArn s, ContextEntries [{ContextEntry}], ResourceHandlingOption s" PAGE)
OP(SimulateCustomPolicy, "PolicyInputList! [s], PermissionsBoundaryPolicyInputList [s], ActionNames! [s], ResourceArns [s], ResourcePolicy s, ResourceOwner s, CallerArn s, "
   "ContextEntries [{ContextEntry}], ResourceHandlingOption s" PAGE)
OP(GetContextKeysForCustomPolicy, "PolicyInputList! [s]")
OP(GetContextKeysForPrincipalPolicy, "PolicySourceArn! " ARN ", PolicyInputList [s]")

/* devices, certificates, keys of other services: records */
RECORD(CreateVirtualMFADevice, "Path s, VirtualMFADeviceName! s1-226" TAGS)
RECORD(DeleteVirtualMFADevice, "SerialNumber! s9-256")
RECORD(EnableMFADevice, "UserName! s1-128, SerialNumber! s9-256, AuthenticationCode1! s6-6, AuthenticationCode2! s6-6")
RECORD(DeactivateMFADevice, "UserName s1-128, SerialNumber! s9-256")
RECORD(ListMFADevices, "UserName s1-128" PAGE)
RECORD(ListVirtualMFADevices, "AssignmentStatus e(Assigned|Unassigned|Any)" PAGE)
RECORD(UploadSSHPublicKey, "UserName! s1-64, SSHPublicKeyBody! s1-16384")
RECORD(GetSSHPublicKey, "UserName! s1-64, SSHPublicKeyId! s20-128, Encoding! e(SSH|PEM)")
RECORD(UpdateSSHPublicKey, "UserName! s1-64, SSHPublicKeyId! s20-128, Status! e(Active|Inactive)")
RECORD(DeleteSSHPublicKey, "UserName! s1-64, SSHPublicKeyId! s20-128")
RECORD(ListSSHPublicKeys, "UserName s1-64" PAGE)
RECORD(UploadSigningCertificate, "UserName s1-128, CertificateBody! s1-16384")
RECORD(UpdateSigningCertificate, "UserName s1-128, CertificateId! s24-128, Status! e(Active|Inactive)")
RECORD(DeleteSigningCertificate, "UserName s1-128, CertificateId! s24-128")
RECORD(ListSigningCertificates, "UserName s1-128" PAGE)
RECORD(UploadServerCertificate, "Path s1-512, ServerCertificateName! s1-128, CertificateBody! s1-16384, PrivateKey! s1-16384, CertificateChain s1-2097152" TAGS)
RECORD(GetServerCertificate, "ServerCertificateName! s1-128")
RECORD(DeleteServerCertificate, "ServerCertificateName! s1-128")
RECORD(ListServerCertificates, "PathPrefix s1-512" PAGE)
RECORD(UpdateServerCertificate, "ServerCertificateName! s1-128, NewPath s1-512, NewServerCertificateName s1-128")
RECORD(TagServerCertificate, "ServerCertificateName! s1-128, Tags! [{Tag}]")
RECORD(UntagServerCertificate, "ServerCertificateName! s1-128, TagKeys! [s]")
RECORD(ListServerCertificateTags, "ServerCertificateName! s1-128" PAGE)
RECORD(GetMFADevice, "SerialNumber! s9-256, UserName s1-128")
RECORD(TagMFADevice, "SerialNumber! s9-256, Tags! [{Tag}]")
RECORD(UntagMFADevice, "SerialNumber! s9-256, TagKeys! [s]")
RECORD(ListMFADeviceTags, "SerialNumber! s9-256" PAGE)

/* identity providers: records; sessions of them are refused */
RECORD(CreateSAMLProvider, "SAMLMetadataDocument! s1000-10000000, Name! s1-128" TAGS)
RECORD(GetSAMLProvider, "SAMLProviderArn! " ARN)
RECORD(UpdateSAMLProvider, "SAMLMetadataDocument s1000-10000000, SAMLProviderArn! " ARN)
RECORD(DeleteSAMLProvider, "SAMLProviderArn! " ARN)
RECORD(ListSAMLProviders, "")
RECORD(TagSAMLProvider, "SAMLProviderArn! " ARN ", Tags! [{Tag}]")
RECORD(UntagSAMLProvider, "SAMLProviderArn! " ARN ", TagKeys! [s]")
RECORD(ListSAMLProviderTags, "SAMLProviderArn! " ARN PAGE)
RECORD(CreateOpenIDConnectProvider, "Url! s, ClientIDList [s], ThumbprintList [s]" TAGS)
RECORD(GetOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN)
RECORD(UpdateOpenIDConnectProviderThumbprint, "OpenIDConnectProviderArn! " ARN ", ThumbprintList! [s]")
RECORD(AddClientIDToOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN ", ClientID! s1-255")
RECORD(RemoveClientIDFromOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN ", ClientID! s1-255")
RECORD(DeleteOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN)
RECORD(ListOpenIDConnectProviders, "")
RECORD(TagOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN ", Tags! [{Tag}]")
RECORD(UntagOpenIDConnectProvider, "OpenIDConnectProviderArn! " ARN ", TagKeys! [s]")
RECORD(ListOpenIDConnectProviderTags, "OpenIDConnectProviderArn! " ARN PAGE)

NONE(ChangePassword, "there is no console to sign in to with a password")
NONE(ResyncMFADevice, "MFA devices are records only")
NONE(CreateServiceSpecificCredential, "there are no services that take them")
NONE(ListServiceSpecificCredentials, "there are no services that take them")
NONE(UpdateServiceSpecificCredential, "there are no services that take them")
NONE(ResetServiceSpecificCredential, "there are no services that take them")
NONE(DeleteServiceSpecificCredential, "there are no services that take them")
NONE(GetServiceLastAccessedDetailsWithEntities, "last use is kept for keys and roles only")
NONE(GetOrganizationsAccessReport, "there are no organizations")
NONE(ListOrganizationsFeatures, "there are no organizations")
NONE(EnableOrganizationsRootCredentialsManagement, "there are no organizations")
NONE(DisableOrganizationsRootCredentialsManagement, "there are no organizations")
NONE(EnableOrganizationsRootSessions, "there are no organizations")
NONE(DisableOrganizationsRootSessions, "there are no organizations")
NONE(EnableOutboundWebIdentityFederation, "no web identity tokens are issued")
NONE(DisableOutboundWebIdentityFederation, "no web identity tokens are issued")
NONE(GetOutboundWebIdentityFederationInfo, "no web identity tokens are issued")
NONE(GenerateServiceLastAccessedDetails, "last use is kept for keys and roles only")
NONE(GetServiceLastAccessedDetails, "last use is kept for keys and roles only")
NONE(ListPoliciesGrantingServiceAccess, "SimulatePrincipalPolicy says which policy decides")
NONE(GenerateOrganizationsAccessReport, "there are no organizations")
NONE(SetSecurityTokenServicePreferences, "tokens have one version")

#undef NAME_U
#undef NAME_R
#undef NAME_G
#undef NAME_P
#undef ARN
#undef PAGE
#undef TAGS
#undef DOC
