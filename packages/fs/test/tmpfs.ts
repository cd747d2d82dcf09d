/** Small file systems in memory, for tests on a disk that is really full or read-only: if this user may mount them. */
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { mounted, runSilently, whyNoMount } from "./mount.ts"

/** Whether no file system can be mounted here; the reason is printed. */
export function cannotMount(): boolean {
  const reason = whyNoMount()
  if (reason !== undefined) console.log(`Tests on file systems of their own are left out: ${reason}`)
  return reason !== undefined
}

/** A folder with a file system of its own, such as `size=1m`; it goes when the test ends. */
export function mountTmpfs(options: string, at?: string): string {
  const { folder, unmount } = mounted(options, at)
  onTestFinished(unmount)
  return folder
}

/** `merged` of this folder: `upper` over the image layer `lower`, as containers have it. Goes when the test ends. */
export function mountOverlay(place: string): string {
  const [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map((name) => join(place, name))
  runSilently("mount", [
    "-t",
    "overlay",
    "overlay",
    "-o",
    `lowerdir=${lower},upperdir=${upper},workdir=${work}`,
    merged ?? "",
  ])
  onTestFinished(() => runSilently("umount", ["-l", merged ?? ""]))
  return merged ?? ""
}

export function makeReadOnly(folder: string): void {
  runSilently("mount", ["-o", "remount,ro", folder])
}
