/** The owner of a lock, as written in its file, and whether that process is dead. */
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import { hostname } from "node:os"
import { isPermitted } from "../disk/permission.ts"

export interface LockOwner {
  /** Distinguishes two holders, also two of one process. */
  readonly token: string
  readonly pid: number
  readonly host: string
  /** Changes at every start of the machine; empty if the system does not provide it. */
  readonly boot: string
  /** The process-id namespace that `pid` belongs to; empty if the system does not provide it. */
  readonly space: string
  /** The lock was taken from an owner that may still be alive and write once more. */
  readonly fence: boolean
}

export function createOwner(fence: boolean): LockOwner {
  machine ??= { host: ownHost(), boot: bootId(), space: pidSpace() }
  return { token: randomUUID(), pid: process.pid, ...machine, fence }
}

/** Undefined while the file is being written, or if it has another format. */
export function parseOwner(text: string): LockOwner | undefined {
  let value: Partial<LockOwner> | null
  try {
    value = JSON.parse(text) as Partial<LockOwner> | null
  } catch {
    return undefined
  }
  if (typeof value?.token !== "string" || !Number.isSafeInteger(value.pid)) return undefined
  const textOf = (field: unknown): string => (typeof field === "string" ? field : "")
  return {
    token: value.token,
    pid: value.pid as number,
    host: textOf(value.host),
    boot: textOf(value.boot),
    space: textOf(value.space),
    fence: value.fence === true,
  }
}

/** True only if it is certain: same boot of the same machine, same process-id namespace, and no such process. */
export function isDead(owner: LockOwner): boolean {
  const own = createOwner(false)
  if (own.boot === "" || owner.boot !== own.boot || owner.space !== own.space || owner.host !== own.host) return false
  if (owner.pid === own.pid) return false
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    // EPERM: the process lives and belongs to another user. Any error but ESRCH (Deno without the permission) proves nothing.
    return error instanceof Error && (error as { code?: unknown }).code === "ESRCH"
  }
}

let machine: { readonly host: string; readonly boot: string; readonly space: string } | undefined

function ownHost(): string {
  return orUndefined({ name: "sys", kind: "hostname" }, hostname)
}

function bootId(): string {
  return readQuietly("/proc/sys/kernel/random/boot_id", (path) => fs.readFileSync(path, "utf8").trim())
}

function pidSpace(): string {
  return readQuietly("/proc/self/ns/pid", (path) => fs.readlinkSync(path))
}

function readQuietly(path: string, read: (path: string) => string): string {
  return orUndefined({ name: "read", path }, () => read(path))
}

/** Empty if the system does not provide it or Deno does not permit it. */
function orUndefined(permission: object, read: () => string): string {
  try {
    return isPermitted(permission) ? read() : ""
  } catch {
    return ""
  }
}
