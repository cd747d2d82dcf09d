import { chmodSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Result } from "../harness.ts"
import { runProcess } from "../cli-process.ts"
import { log } from "./logs.ts"
import { contentsOf, createWorkspace, refusal, type Workspace } from "./workspace.ts"

/** Root may write everywhere, so as root the command runs as user 65534 (nobody). */
const user = process.getuid?.() === 0 ? 65_534 : undefined
const absent = await skipReason()

async function skipReason(): Promise<string> {
  if (process.getuid === undefined) return " (skipped: the system has no users of this kind)"
  const { exit } = await runProcess({ cwd: "/", user }, "--version").catch(() => ({ exit: -1 }))
  return exit === 0 ? "" : " (skipped: another user than root cannot run the command from this folder)"
}

// Slow: another user has to be a process of its own, for each command.

/** A store with one session whose folders and files have these permissions. */
async function storeWith(folders: number, files: number): Promise<Workspace> {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  expect((await workspace.cli("import", "in.jsonl", "--id", "keep")).exit).toBe(0)
  // Whatever the umask: the other user has to reach the store and the file.
  for (const folder of [workspace.root, workspace.cwd]) chmodSync(folder, 0o755)
  chmodSync(join(workspace.cwd, "in.jsonl"), 0o644)
  changeModes(workspace.store, folders, files)
  onTestFinished(() => changeModes(workspace.store, 0o755, 0o644))
  return workspace
}

function changeModes(path: string, folders: number, files: number): void {
  const isFolder = statSync(path).isDirectory()
  if (isFolder) chmodSync(path, 0o755)
  if (isFolder) for (const name of readdirSync(path)) changeModes(join(path, name), folders, files)
  chmodSync(path, isFolder ? folders : files)
}

const cli = (workspace: Workspace, ...argv: string[]): Promise<Result> =>
  runProcess({ cwd: workspace.cwd, user }, ...argv)

test.skipIf(absent !== "")(
  `a read-only store can be read, and writing fails with one line and changes nothing${absent}`,
  async () => {
    const workspace = await storeWith(0o555, 0o444)
    const before = contentsOf(workspace.store)
    for (const argv of [["list"], ["show", "keep"], ["context", "keep"], ["verify", "--all"], ["export", "keep"]])
      expect(await cli(workspace, ...argv)).toMatchObject({ exit: 0, stderr: "" })
    for (const argv of [
      ["import", "in.jsonl"],
      ["rename", "keep", "t"],
      ["rm", "keep", "--yes"],
      ["fork", "keep"],
      ["resume", "--create"],
    ]) {
      const result = await cli(workspace, ...argv)
      expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
      expect(result.stderr).toContain("EACCES")
    }
    expect(contentsOf(workspace.store)).toEqual(before)
  },
)

test.skipIf(absent !== "" || user === undefined)(
  `a store without read permission is an error, not an empty store${absent || (user === undefined ? " (skipped: needs root)" : "")}`,
  async () => {
    const workspace = await storeWith(0o700, 0o600)
    const before = contentsOf(workspace.store)
    for (const argv of [["list"], ["show", "keep"], ["verify", "--all"], ["import", "in.jsonl"]]) {
      const result = await cli(workspace, ...argv)
      expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
      expect(result.stderr).toContain("EACCES")
    }
    expect(contentsOf(workspace.store)).toEqual(before)
  },
)
