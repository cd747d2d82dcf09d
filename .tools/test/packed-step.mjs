import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packAll } from "../checks/packed.mjs"
import { build } from "./build.mjs"

/** The outcome of `use`, which gets the packages as npm gets them and an empty folder outside of the repository, which is removed afterwards. */
export async function withPacked(use) {
  const built = await build()
  if (built.code !== 0) return failure(built.output)
  const packed = await packAll()
  if (packed.failure !== undefined) return failure(packed.failure)
  const folder = mkdtempSync(join(tmpdir(), "sessions-packed-"))
  try {
    return await use(packed.tarballs, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function failure(output) {
  return { passed: 0, failed: 1, skipped: 0, output }
}
