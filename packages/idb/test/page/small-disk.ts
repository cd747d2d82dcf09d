/** A disk of its own for a browser's profile, which can be filled up: a small file system in memory. */
import { execFileSync } from "node:child_process"
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface SmallDisk {
  readonly profile: string
  /** Leaves this many bytes. */
  fillUp(rest: number): void
  free(): void
  close(): void
}

/** A string is the reason why there is none here. */
export function mountSmallDisk(bytes: number): SmallDisk | string {
  if (process.platform !== "linux") return "only Linux has tmpfs"
  if (process.getuid?.() !== 0) return "only root may mount"
  const root = mkdtempSync(join(tmpdir(), "sessions-small-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", root], { stdio: "ignore" })
  } catch {
    rmdirSync(root)
    return "this place does not let root mount"
  }
  const ballast = join(root, "ballast")
  return {
    profile: join(root, "profile"),
    fillUp(rest) {
      // In pieces: the browser writes meanwhile.
      for (;;) {
        const { bavail, bsize } = statfsSync(root)
        const more = Math.min(1_000_000, bavail * bsize - rest)
        if (more <= 0) return
        appendFileSync(ballast, new Uint8Array(more))
      }
    },
    free: () => rmSync(ballast),
    close() {
      execFileSync("umount", ["-l", root])
      rmdirSync(root)
    },
  }
}
