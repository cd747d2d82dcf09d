/** What `export --out` writes for logs whose blob references are malformed, and if a blob cannot be written. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { header, type Json, jsonl, message, TIME } from "./logs.ts"
import { createWorkspace, refusal, type Workspace } from "./workspace.ts"

const HASH = "a".repeat(64)

function snapshot(files: unknown): string {
  return JSON.stringify({ type: "file_snapshot", id: "s", parentId: "m1", seq: 2, timestamp: TIME, note: HASH, files })
}

const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  "a path": [header("h"), message("m1", null, 1, "x"), snapshot({ "/x": { blob: "sha256:../../../pwned" } })],
  null: [header("h"), message("m1", null, 1, "x"), snapshot({ "/x": null })],
  "a number": [header("h"), message("m1", null, 1, "x"), snapshot({ "/x": { blob: 5 } })],
  "no map": [header("h"), message("m1", null, 1, "x"), snapshot([null, 7, "x"])],
  "a backup of another type": [backupHeader(["sha256:../../etc/passwd", 7, null])],
  "a backup that is no list": [backupHeader(7)],
  "an origin that is null": [header("h", { origin: null, note: HASH })],
}

function backupHeader(blobs: unknown): string {
  const origin: Json = { format: "pi", version: "3", backup: { blobs, bytes: 1 } }
  return header("h", { origin, note: HASH })
}

for (const [name, lines] of Object.entries(MALFORMED)) {
  test(`a log with a reference that is ${name} is exported byte for byte, without that blob`, async () => {
    const workspace = createWorkspace()
    workspace.writeLog("h", { from: 0, content: jsonl(...lines) })
    const result = await workspace.cli("export", "h", "--out", "out.jsonl")
    expect(result).toMatchObject({ exit: 0, stderr: "" })
    expect(readFileSync(join(workspace.cwd, "out.jsonl"), "utf8")).toBe(jsonl(...lines))
    expect(readdirSync(workspace.cwd).sort()).toEqual([".sessions", "out.jsonl"])
    expect(readdirSync(workspace.root)).toEqual(["work"])
    const backup = await workspace.cli("export", "h", "--backup", "--out", "backup.jsonl")
    expect(refusal(1, 2)(backup)).toBeUndefined()
    expect(existsSync(join(workspace.cwd, "backup.jsonl"))).toBe(false)
  })
}

test("an export whose blobs cannot be written leaves nothing of it, and what was there before as it was", async () => {
  const workspace = createWorkspace()
  const hashes = await fill(workspace)
  const [, second = ""] = hashes
  const folder = join(workspace.cwd, "out.jsonl.blobs")
  mkdirSync(folder)
  writeFileSync(join(folder, second), "theirs")
  expect(refusal(1)(await workspace.cli("export", "h", "--out", "out.jsonl"))).toBeUndefined()
  expect(existsSync(join(workspace.cwd, "out.jsonl"))).toBe(false)
  expect(readdirSync(folder)).toEqual([second])
  expect(readFileSync(join(folder, second), "utf8")).toBe("theirs")
})

test("an export of which a blob is damaged leaves nothing", async () => {
  const workspace = createWorkspace()
  const [, second = ""] = await fill(workspace)
  const path = join(workspace.store, ".blobs", second.slice(0, 2), second)
  chmodSync(path, 0o600)
  writeFileSync(path, "damaged")
  expect(refusal(1)(await workspace.cli("export", "h", "--out", "out.jsonl"))).toBeUndefined()
  expect(readdirSync(workspace.cwd)).toEqual([".sessions"])
})

/** A session with two blobs; returns their hashes in the order of the log. */
async function fill({ open }: Workspace): Promise<readonly string[]> {
  const sessions = open()
  const session = await sessions.create({ id: "h" })
  for (const text of ["one", "two"]) {
    const data = Buffer.alloc(3_000, text).toString("base64")
    const content = [{ type: "image", data, mimeType: "image/png" } as const]
    await session.append({ type: "message", message: { role: "user", content } })
  }
  const hashes: string[] = []
  for await (const { lines } of sessions.storage.read("h"))
    for (const line of lines)
      hashes.push(...[...line.matchAll(/blob:sha256:([0-9a-f]{64})/g)].map(([, hash = ""]) => hash))
  await sessions.close()
  return hashes
}
