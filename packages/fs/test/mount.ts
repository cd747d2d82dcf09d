/** Mounts small file systems in memory, if this user may. Without a test runner, which browser pages have not. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The reason why no file system can be mounted here. */
export function whyNoMount(): string | undefined {
  if (process.platform !== "linux") return "only Linux has tmpfs"
  if (process.getuid?.() !== 0) return "only root may mount"
  try {
    mounted("size=64k").unmount()
    return undefined
  } catch {
    return "this place does not let root mount"
  }
}

/** A folder with a file system of its own, such as `size=1m`: `at`, or a new one, which goes with it. */
export function mounted(options: string, at?: string): { readonly folder: string; readonly unmount: () => void } {
  const folder = at ?? mkdtempSync(join(tmpdir(), "sessions-mount-"))
  const remove = (): void => {
    if (at === undefined) rmdirSync(folder)
  }
  try {
    runSilently("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
  } catch (error) {
    remove()
    throw error
  }
  return {
    folder,
    unmount() {
      runSilently("umount", ["-l", folder])
      remove()
    },
  }
}

export function runSilently(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: "ignore" })
}
