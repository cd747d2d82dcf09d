import * as fs from "node:fs"
import { join } from "node:path"
import { collectBlobs } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { createWorkspace } from "./helpers.ts"

test("a rewind gives every tracked file the contents it had when the turn of the message began", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const first = await w.begin()
  await w.edit("a", "a1")
  await w.edit("new", "n1")
  const second = await w.begin()
  await w.edit("a", "a2")
  await w.edit("b/c", "c1")

  expect(await w.checkpoints.rewind(second)).toMatchObject({ restored: ["a"], removed: ["b/c"], unchanged: ["new"] })
  expect([w.read("a"), w.read("new"), w.read("b/c")]).toEqual(["a1", "n1", undefined])
  expect(await w.checkpoints.rewind(first)).toMatchObject({ restored: ["a"], removed: ["new"], unchanged: ["b/c"] })
  expect([w.read("a"), w.read("new"), w.read("b/c")]).toEqual(["a0", undefined, undefined])
})

test("a rewind works after a restart, also for files first edited in the turn that was running", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const message = await w.begin()
  await w.edit("a", "a1")
  await w.restart()
  await w.checkpoints.rewind(message)
  expect(w.read("a")).toBe("a0")
})

test("a rewind can be undone, with the changes that a person made since", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const message = await w.begin()
  await w.edit("a", "a1")
  await w.edit("b", "b1")
  w.write("a", "by hand")
  const { undo } = await w.checkpoints.rewind(message)
  await w.restart()
  await w.checkpoints.rewind(undo as string)
  expect([w.read("a"), w.read("b")]).toEqual(["by hand", "b1"])
})

test("a tracked file that something else changed between turns has its new contents at the next turn", async () => {
  using w = await createWorkspace()
  await w.begin()
  await w.edit("a", "a1")
  w.write("a", "by hand")
  const second = await w.begin()
  await w.edit("a", "a2")
  await w.checkpoints.rewind(second)
  expect(w.read("a")).toBe("by hand")
})

test("a rewind works for a message of another branch", async () => {
  using w = await createWorkspace()
  const root = await w.begin()
  const left = await w.begin()
  await w.edit("a", "left")
  await w.session.branch(root)
  await w.begin()
  await w.edit("a", "right")
  await w.checkpoints.rewind(left)
  expect(w.read("a")).toBeUndefined()
})

test("with `conversation` the message's parent is the leaf after the files are back, and the undo moves it forward", async () => {
  using w = await createWorkspace()
  const first = await w.begin()
  await w.edit("a", "a1")
  const second = await w.begin()
  const { undo } = await w.checkpoints.rewind(second, { conversation: true })
  expect(w.session.leafId).not.toBe(second)
  expect((await w.session.context()).messages).toHaveLength(1)
  await w.checkpoints.rewind(first, { conversation: true })
  expect((await w.session.context()).messages).toHaveLength(0)
  await w.checkpoints.rewind(undo as string, { conversation: true })
  expect(w.read("a")).toBe("a1")
  expect((await w.session.context()).messages).toHaveLength(2)
})

test("a dry run and a diff say what a rewind would do, and change nothing", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  w.write("same", "s")
  const message = await w.begin()
  for (const path of ["a", "new", "same"]) await w.edit(path, path === "same" ? "s" : "1")
  const before = w.files()
  expect(await w.checkpoints.diff(message)).toEqual([
    { path: "a", change: "restore" },
    { path: "new", change: "remove" },
    { path: "same", change: "none" },
  ])
  const dry = await w.checkpoints.rewind(message, { dryRun: true, conversation: true })
  expect(dry).toEqual({ restored: ["a"], removed: ["new"], unchanged: ["same"], skipped: [], failed: [] })
  expect(w.files()).toEqual(before)
  expect(await w.checkpoints.list()).toHaveLength(1)
})

test("bytes come back exactly: binaries, CRLF, empty files, no newline at the end", async () => {
  using w = await createWorkspace()
  const contents = {
    binary: new Uint8Array(70_000).map((_, i) => (i * 7) % 256),
    crlf: "a\r\nb\r\n",
    empty: "",
    bom: "\ufeffx",
    bytes: new Uint8Array([0xff, 0xfe, 0, 0xc3, 0x28]),
  }
  for (const [path, content] of Object.entries(contents)) w.write(path, content)
  const before = w.files()
  const message = await w.begin()
  for (const path of Object.keys(contents)) await w.edit(path, "other")
  await w.checkpoints.rewind(message)
  expect(w.files()).toEqual(before)
})

test("the mode of a file comes back, also if only the mode was changed", async () => {
  using w = await createWorkspace()
  for (const path of ["run", "other"]) {
    w.write(path, "#!/bin/sh")
    fs.chmodSync(join(w.root, path), 0o755)
  }
  const message = await w.begin()
  await w.edit("run", "x")
  await w.edit("other", "#!/bin/sh")
  fs.rmSync(join(w.root, "run"))
  w.write("run", "y")
  fs.chmodSync(join(w.root, "other"), 0o600)
  await w.checkpoints.rewind(message)
  expect(["run", "other"].map((path) => fs.statSync(join(w.root, path)).mode & 0o777)).toEqual([0o755, 0o755])
})

test("the first snapshot of a message is kept when its turn begins again", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  await w.begin()
  await w.edit("a", "a0")
  const message = await w.begin()
  await w.edit("a", "a1")
  await w.checkpoints.begin(message)
  await w.restart()
  await w.checkpoints.begin(message)
  await w.edit("a", "a2")
  expect(await w.checkpoints.list()).toHaveLength(2)
  await w.checkpoints.rewind(message)
  expect(w.read("a")).toBe("a0")
})

test("a turn that begins again after a rewind backs up what changed since", async () => {
  using w = await createWorkspace()
  const message = await w.begin()
  await w.edit("a", "a1")
  await w.checkpoints.rewind(message)
  w.write("a", "by hand")
  const { id } = await w.checkpoints.begin(message)
  await w.edit("a", "a2")
  await w.checkpoints.rewind(id)
  expect(w.read("a")).toBe("by hand")
})

test("a rewind waits for the running turn, and is refused inside it", async () => {
  using w = await createWorkspace()
  const message = await w.begin()
  const order: string[] = []
  const turn = w.session.turn(async () => {
    await expect(w.checkpoints.rewind(message)).rejects.toMatchObject({ code: "invalid" })
    await w.edit("a", "a1")
    order.push("turn")
  })
  await Promise.all([turn, w.checkpoints.rewind(message).then(() => order.push("rewind"))])
  expect(order).toEqual(["turn", "rewind"])
  expect(w.read("a")).toBeUndefined()
})

test("a missing blob and an unwritable file are listed as failed, the rest goes on, and the same call is harmless", async () => {
  using w = await createWorkspace()
  w.write("lost", "l0")
  w.write("b", "b0")
  w.write("folder/c", "c0")
  const message = await w.begin()
  for (const path of ["lost", "b", "folder/c"]) await w.edit(path, "1")
  fs.rmSync(join(w.root, "folder/c"))
  w.write("folder/c/by-hand", "")
  for await (const { hash } of w.storage.blobs.list()) {
    if (new TextDecoder().decode(await w.storage.blobs.get(hash)) === "l0") await w.storage.blobs.delete(hash)
  }
  expect(await w.checkpoints.diff(message)).toContainEqual({ path: "lost", change: "missing_backup" })
  for (const restored of [["b"], []]) {
    const result = await w.checkpoints.rewind(message)
    expect(result.restored).toEqual(restored)
    expect(result.failed.map(({ path }) => path).sort()).toEqual(["folder/c", "lost"])
  }
  expect([w.read("lost"), w.read("b")]).toEqual(["1", "b0"])
})

test("a file that changes during the rewind is left as it is", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const message = await w.begin()
  await w.edit("a", "a1")
  const { blobs } = w.storage
  const get = blobs.get.bind(blobs)
  blobs.get = async (hash) => {
    w.write("a", "by hand")
    return get(hash)
  }
  const { failed } = await w.checkpoints.rewind(message)
  expect(failed).toMatchObject([{ path: "a", error: { code: "conflict" } }])
  expect(w.read("a")).toBe("by hand")
})

test("a file may take the place of a folder, and a folder that of a file", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const first = await w.begin()
  await w.checkpoints.track("a")
  w.remove("a")
  await w.edit("a/b", "b1")
  const { undo, failed } = await w.checkpoints.rewind(first)
  expect({ failed, a: w.read("a") }).toEqual({ failed: [], a: "a0" })
  expect((await w.checkpoints.rewind(undo as string)).failed).toEqual([])
  expect(w.read("a/b")).toBe("b1")
})

test("collecting blobs keeps every backup of a kept snapshot", async () => {
  using w = await createWorkspace({ maxSnapshots: 2 })
  w.write("a", "a0")
  const messages: string[] = []
  for (let turn = 1; turn <= 5; turn++) {
    messages.push(await w.begin())
    await w.edit("a", `a${turn}`)
  }
  await w.checkpoints.list()
  // Those of turns 1 to 3 only.
  expect(await collectBlobs(w.storage, { olderThan: 0 })).toMatchObject({ removed: 3 })
  await w.checkpoints.rewind(messages[3] as string)
  expect(w.read("a")).toBe("a3")
})

test("an aborted rewind ends between two files, and the same call completes it", async () => {
  using w = await createWorkspace()
  const message = await w.begin()
  for (const path of ["a", "b"]) await w.edit(path, "1")
  const stop = new AbortController()
  stop.abort()
  await expect(w.checkpoints.rewind(message, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" })
  expect(w.read("a")).toBe("1")
  await w.checkpoints.rewind(message)
  expect(w.files()).toEqual({})
})
