/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - system calls that no job needs and that break out of boxes: refused with EPERM, for the script and whatever it starts.
 *
 * New namespaces would give a script all capabilities inside of one of its own, and with them most of the kernel's attack surface; the others read or
 * steer foreign processes, or load things into the kernel.  clone3 takes its flags from memory, where a filter cannot look: it answers ENOSYS, and libraries
 * fall back to clone.  On a machine whose numbers of calls this file does not know there is no filter: namespaces, user and capabilities do the work. */
#include "jobs/jobs_int.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#endif

#ifdef NATIVE

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), REFUSE

enum { NAMESPACE_FLAGS = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP, X32 = 0x40000000 };

static const struct sock_filter program[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    DENY(unshare), DENY(setns), DENY(mount), DENY(umount2), DENY(pivot_root), DENY(chroot), DENY(ptrace), DENY(process_vm_readv), DENY(process_vm_writev), DENY(kcmp),
    DENY(pidfd_getfd), DENY(bpf), DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key), DENY(request_key), DENY(init_module), DENY(finit_module), DENY(delete_module),
    DENY(kexec_load), DENY(reboot), DENY(swapon), DENY(swapoff), DENY(open_by_handle_at), DENY(io_uring_setup), DENY(mount_setattr), DENY(open_tree), DENY(move_mount), DENY(fsopen), DENY(fsmount),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
    ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
    LOAD(args[0]),                                    /* the low half: both machines are little-endian */
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACE_FLAGS, 0, 1),
    REFUSE,
    ANSWER(SECCOMP_RET_ALLOW),
};

int job_filter_calls(void)
{
    struct sock_fprog p = { .len = COUNT_OF(program), .filter = (struct sock_filter *)program };
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0);
}

#else

int job_filter_calls(void) { return 0; }

#endif
