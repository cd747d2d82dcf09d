/** Small file systems in memory, for tests on a disk that is really full or read-only: if this user may mount them. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** Whether no file system can be mounted here; the reason is printed. */
export function cannotMount(): boolean {
  const reason = whyNot()
  if (reason !== undefined) console.log(`Tests on file systems of their own are left out: ${reason}`)
  return reason !== undefined
}

function whyNot(): string | undefined {
  if (process.platform !== "linux") return "only Linux has tmpfs"
  if (process.getuid?.() !== 0) return "only root may mount"
  const folder = mkdtempSync(join(tmpdir(), "sessions-mount-"))
  try {
    run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder])
    run("umount", [folder])
    return undefined
  } catch {
    return "this place does not let root mount"
  } finally {
    rmdirSync(folder)
  }
}

/** A folder with a file system of its own, such as `size=1m`; it goes when the test ends. */
export function mountTmpfs(options: string, at?: string): string {
  const folder = at ?? mkdtempSync(join(tmpdir(), "sessions-mount-"))
  run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
  onTestFinished(() => {
    run("umount", ["-l", folder])
    if (at === undefined) rmdirSync(folder)
  })
  return folder
}

/** `merged` of this folder: `upper` over the image layer `lower`, as containers have it. Goes when the test ends. */
export function mountOverlay(place: string): string {
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(place, name))
  run("mount", ["-t", "overlay", "overlay", "-o", `lowerdir=${lower},upperdir=${upper},workdir=${work}`, merged ?? ""])
  onTestFinished(() => run("umount", ["-l", merged ?? ""]))
  return merged ?? ""
}

export function makeReadOnly(folder: string): void {
  run("mount", ["-o", "remount,ro", folder])
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: "ignore" })
}
