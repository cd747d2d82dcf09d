import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createFileStorage } from "@sessions/fs"
import { onTestFinished } from "vitest"
import type { Restorable } from "../../core/test/restores.ts"

let copies = 0

/** An older copy of the files of the session is put back, in their place or as other files. */
export function makeStore(): Restorable {
  const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-restores-"))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const root = join(scratch, "root")
  const folder = join(root, "s")
  return {
    open: () => createFileStorage({ root }),
    async backup() {
      const names = readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isFile() ? [one.name] : []))
      const files = names.map((name) => [name, readFileSync(join(folder, name))] as const)
      return () => {
        if (copies++ % 2 === 0) return files.forEach(([name, bytes]) => writeFileSync(join(folder, name), bytes))
        const copy = join(scratch, `copy${copies}`)
        mkdirSync(copy)
        for (const [name, bytes] of files) writeFileSync(join(copy, name), bytes)
        renameSync(folder, join(scratch, `old${copies}`))
        renameSync(copy, folder)
      }
    },
  }
}
