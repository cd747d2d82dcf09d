/**
 * The failures of a file system, by errno: whether each passes, and what to do. The code and the sentence of an error follow from its row,
 * and so does its row in `docs/errors.md`.
 */
import type { Failure } from "@sessions/core/storage"

const RIGHTS = "this user may not do that; give it the right to read and write the folder"
const DESCRIPTORS = "there are too many open files; close some or raise the limit"
const OUT_OF_REACH = "the file system did not answer, as one on a network does; repeat the call"

export const FAILURES: readonly Failure[] = [
  // Nothing to do but wait.
  { when: "EBUSY", passes: "by itself", code: "unavailable", act: "another program holds it; repeat the call" },
  { when: "EMFILE", passes: "by itself", code: "unavailable", act: `of this process ${DESCRIPTORS}` },
  { when: "ENFILE", passes: "by itself", code: "unavailable", act: `of the system ${DESCRIPTORS}` },
  { when: "ENOMEM", passes: "by itself", code: "unavailable", act: "the system has no memory left; repeat the call" },
  { when: "EAGAIN", passes: "by itself", code: "unavailable", act: "the system is busy; repeat the call" },
  { when: "EINTR", passes: "by itself", code: "unavailable", act: "the system was interrupted; repeat the call" },
  { when: "ENOLCK", passes: "by itself", code: "unavailable", act: "the system has no locks left; repeat the call" },
  { when: "ESTALE", passes: "by itself", code: "unavailable", act: OUT_OF_REACH },
  { when: "ETIMEDOUT", passes: "by itself", code: "unavailable", act: OUT_OF_REACH },
  { when: "EHOSTDOWN", passes: "by itself", code: "unavailable", act: OUT_OF_REACH },
  { when: "ENOTCONN", passes: "by itself", code: "unavailable", act: OUT_OF_REACH },
  {
    when: "EIO",
    passes: "by itself",
    code: "unavailable",
    act: "the disk failed to do it; repeat the call, and if this stays, look at the system's log before trusting this disk",
  },
  {
    when: "ENOENT",
    passes: "by itself",
    code: "unavailable",
    act: "a folder above it is gone, as while a volume is not mounted; look at the path, then repeat the call",
  },
  {
    when: "EEXIST",
    passes: "by itself",
    code: "unavailable",
    act: "something of that name appeared there; repeat the call, and if this stays, move it away",
  },
  {
    when: "ENOTEMPTY",
    passes: "by itself",
    code: "unavailable",
    act: "something appeared in the folder; repeat the call, and if this stays, move it away",
  },

  // Space.
  { when: "ENOSPC", passes: "after", code: "quota", act: "the disk is full, or has no inode left; make room" },
  { when: "EDQUOT", passes: "after", code: "quota", act: "the user's disk quota is used up; make room" },
  { when: "EMLINK", passes: "after", code: "quota", act: "a folder there can hold no more folders; delete sessions" },
  {
    when: "EFBIG",
    passes: "after",
    code: "quota",
    act: "the file may not grow further here; lower maxPartBytes or raise the limit",
  },

  // Somebody has to change the set-up.
  { when: "EACCES", passes: "after", code: "misconfigured", act: RIGHTS },
  { when: "EPERM", passes: "after", code: "misconfigured", act: RIGHTS },
  {
    when: "NotCapable",
    passes: "after",
    code: "misconfigured",
    act: "Deno was started without that permission; the documentation lists those needed",
  },
  {
    when: "EROFS",
    passes: "after",
    code: "misconfigured",
    act: "the file system is mounted read-only; mount it for writing or choose another root",
  },
  {
    when: "ENOTDIR",
    passes: "after",
    code: "misconfigured",
    act: "a file stands where a folder should be; move it away or choose another root",
  },
  {
    when: "EISDIR",
    passes: "after",
    code: "misconfigured",
    act: "a folder stands where a file should be; move it away",
  },
  {
    when: "ELOOP",
    passes: "after",
    code: "misconfigured",
    act: "a symbolic link stands there, and links are not followed; remove it",
  },
  {
    when: "EXDEV",
    passes: "after",
    code: "misconfigured",
    act: "`.new` is on another volume than the root, or of an image layer; have both on one, or remove `.new`",
  },
  {
    when: "ENAMETOOLONG",
    passes: "after",
    code: "misconfigured",
    act: "the path is longer than the file system takes; choose a root with a shorter path",
  },
  {
    when: "ENODEV",
    passes: "after",
    code: "misconfigured",
    act: "the device is gone; attach it, or choose another root",
  },

  // Never.
  {
    when: "EINVAL",
    passes: "never",
    code: "unsupported",
    act: "this file system cannot do it; choose a root on another one",
  },
  {
    when: "ENOSYS",
    passes: "never",
    code: "unsupported",
    act: "this file system cannot do it; choose a root on another one",
  },
  {
    when: "ENOTSUP",
    passes: "never",
    code: "unsupported",
    act: "this file system cannot do it; choose a root on another one",
  },
  {
    when: "ERR_STRING_TOO_LONG",
    passes: "never",
    code: "corrupt",
    act: "a line there is longer than any text of this runtime; it is left as it is",
  },
  {
    when: "ERR_FS_FILE_TOO_LARGE",
    passes: "never",
    code: "corrupt",
    act: "no file that belongs there is so large; look at it, and move it away",
  },
]
