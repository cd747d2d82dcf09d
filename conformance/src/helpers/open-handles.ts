/** Counts the open handles of the process, so that a case can find handles that a storage leaks. */
interface Runtime {
  readonly process?: {
    readonly getActiveResourcesInfo?: () => readonly string[]
    readonly getBuiltinModule?: (name: string) => unknown
  }
  readonly Bun?: { readonly gc?: (now: boolean) => void }
}

/**
 * The number of open handles by kind: timers, sockets and other resources that the runtime reports, and file descriptors.
 * Undefined if the runtime reports none of them, as in a page. Windows does not report file descriptors.
 */
export function openHandles(): ReadonlyMap<string, number> | undefined {
  const { process, Bun } = globalThis as Runtime
  // Bun closes a database only when its last statement is garbage collected.
  Bun?.gc?.(true)
  const handles = new Map<string, number>()
  for (const kind of process?.getActiveResourcesInfo?.() ?? []) handles.set(kind, (handles.get(kind) ?? 0) + 1)
  const files = descriptors(process?.getBuiltinModule)
  if (files !== undefined) handles.set("file descriptor", files)
  return process?.getActiveResourcesInfo === undefined && files === undefined ? undefined : handles
}

function descriptors(builtin: ((name: string) => unknown) | undefined): number | undefined {
  const fs = builtin?.("node:fs") as { readonly readdirSync: (path: string) => readonly string[] } | undefined
  const threads = builtin?.("node:worker_threads") as { readonly isMainThread: boolean } | undefined
  // Descriptors belong to the process, so other threads of a test runner would change the count.
  if (fs === undefined || threads?.isMainThread !== true) return undefined
  for (const folder of ["/proc/self/fd", "/dev/fd"]) {
    try {
      return fs.readdirSync(folder).length
    } catch {
      // This system has no such folder.
    }
  }
  return undefined
}
