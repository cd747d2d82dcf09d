/** A disk of its own for a browser's profile, which can be filled up: a small file system in memory. */
import { appendFileSync, rmSync, statfsSync } from "node:fs"
import { join } from "node:path"
import { mounted, whyNoMount } from "../../../fs/test/mount.ts"

export interface SmallDisk {
  readonly profile: string
  /** Leaves this many bytes. */
  fillUp(rest: number): void
  free(): void
  close(): void
}

/** A string is the reason why there is none here. */
export function mountSmallDisk(bytes: number): SmallDisk | string {
  const reason = whyNoMount()
  if (reason !== undefined) return reason
  const { folder, unmount } = mounted(`size=${bytes}`)
  const ballast = join(folder, "ballast")
  return {
    profile: join(folder, "profile"),
    fillUp(rest) {
      // In pieces: the browser writes meanwhile.
      for (;;) {
        const { bavail, bsize } = statfsSync(folder)
        const more = Math.min(1_000_000, bavail * bsize - rest)
        if (more <= 0) return
        appendFileSync(ballast, new Uint8Array(more))
      }
    },
    free: () => rmSync(ballast),
    close: unmount,
  }
}
