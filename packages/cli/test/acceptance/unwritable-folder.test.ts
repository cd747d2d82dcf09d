import { execFile } from "node:child_process"
import { chmodSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import type { Result } from "../harness.ts"
import { runProcess } from "../cli-process.ts"
import { FLAGS } from "../../../../.config/program.ts"
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

const COMMANDS = fileURLToPath(new URL("commands-process.ts", import.meta.url))

/** The results of the commands with their arguments. Another user has to be a process of its own. */
async function resultsOf({ cwd }: Workspace, ...calls: readonly string[][]): Promise<(readonly [string, Result])[]> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const as = user === undefined ? {} : { uid: user, gid: user }
  const args = [...FLAGS, COMMANDS, JSON.stringify(calls)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env, ...as })
  const results = JSON.parse(stdout) as Result[]
  expect(results.length).toBe(calls.length)
  return results.map((result, n) => [calls[n]?.join(" ") ?? "", result])
}

test.skipIf(absent !== "")(
  `a read-only store can be read, and writing fails with one line and changes nothing${absent}`,
  async () => {
    const workspace = await storeWith(0o555, 0o444)
    const before = contentsOf(workspace.store)
    const reading = [["list"], ["show", "keep"], ["context", "keep"], ["verify", "--all"], ["export", "keep"]]
    const writing = [
      ["import", "in.jsonl"],
      ["rename", "keep", "t"],
      ["rm", "keep", "--yes"],
      ["fork", "keep"],
      ["resume", "--create"],
    ]
    const results = await resultsOf(workspace, ...reading, ...writing)
    for (const [command, result] of results.slice(0, reading.length))
      expect(result, command).toMatchObject({ exit: 0, stderr: "" })
    for (const [command, result] of results.slice(reading.length)) {
      expect(refusal(1)(result), command).toBeUndefined()
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
    const calls = [["list"], ["show", "keep"], ["verify", "--all"], ["import", "in.jsonl"]]
    for (const [command, result] of await resultsOf(workspace, ...calls)) {
      expect(refusal(1)(result), command).toBeUndefined()
      expect(result.stderr).toContain("EACCES")
    }
    expect(contentsOf(workspace.store)).toEqual(before)
  },
)
