interface Runtime {
  readonly process?: {
    readonly getActiveResourcesInfo?: () => readonly string[]
    readonly getBuiltinModule?: (name: string) => unknown
  }
  readonly Bun?: { readonly gc?: (now: boolean) => void }
}

/**
 * What this program holds open, by kind: what keeps it from ending (timers, sockets, as far as the runtime tells), and its file
 * descriptors. Undefined where nobody tells: in pages, and on Windows for files.
 */
export function openHandles(): ReadonlyMap<string, number> | undefined {
  const { process, Bun } = globalThis as Runtime
  // Bun closes a database when the last statement of it is collected.
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
  // Descriptors are the process's: the other threads of a test runner open and close theirs meanwhile.
  if (fs === undefined || threads?.isMainThread !== true) return undefined
  for (const folder of ["/proc/self/fd", "/dev/fd"]) {
    try {
      return fs.readdirSync(folder).length
    } catch {
      // Not on this system.
    }
  }
  return undefined
}
