import { chmodSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Result } from "../harness.ts"
import { sessions as sessionsProcess } from "../cli-process.ts"
import { log } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { contentsOf, makePlace, refusal } from "./workspace.ts"

/** Root may write everywhere, so it hands the command to somebody who may not. */
const user = process.getuid?.() === 0 ? 65_534 : undefined
const absent = await whyAbsent()

async function whyAbsent(): Promise<string> {
  if (process.getuid === undefined) return " (skipped: the system has no users of this kind)"
  const { exit } = await sessionsProcess({ cwd: "/", user }, "--version").catch(() => ({ exit: -1 }))
  return exit === 0 ? "" : " (skipped: another user than root cannot run the command from this folder)"
}

/** A session in a store whose folders and files have these rights. */
async function storeWith(folders: number, files: number): Promise<Place> {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  expect((await place.cli("import", "in.jsonl", "--id", "keep")).exit).toBe(0)
  chmodSync(place.root, 0o755)
  change(place.store, folders, files)
  onTestFinished(() => change(place.store, 0o755, 0o644))
  return place
}

function change(path: string, folders: number, files: number): void {
  const isFolder = statSync(path).isDirectory()
  if (isFolder) chmodSync(path, 0o755)
  if (isFolder) for (const name of readdirSync(path)) change(join(path, name), folders, files)
  chmodSync(path, isFolder ? folders : files)
}

const cli = (place: Place, ...argv: string[]): Promise<Result> => sessionsProcess({ cwd: place.cwd, user }, ...argv)

test.skipIf(absent !== "")(
  `a store that this user may only read is read, and what would write says so in one line and changes nothing${absent}`,
  async () => {
    const place = await storeWith(0o555, 0o444)
    const before = contentsOf(place.store)
    for (const argv of [["list"], ["show", "keep"], ["context", "keep"], ["verify", "--all"], ["export", "keep"]])
      expect(await cli(place, ...argv)).toMatchObject({ exit: 0, stderr: "" })
    for (const argv of [
      ["import", "in.jsonl"],
      ["rename", "keep", "t"],
      ["rm", "keep"],
      ["fork", "keep"],
      ["resume"],
    ]) {
      const result = await cli(place, ...argv)
      expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
      expect(result.stderr).toContain("EACCES")
    }
    expect(contentsOf(place.store)).toEqual(before)
  },
)

test.skipIf(absent !== "" || user === undefined)(
  `a store that this user may not look into is a failure, not an empty one${absent || (user === undefined ? " (skipped: needs root)" : "")}`,
  async () => {
    const place = await storeWith(0o700, 0o600)
    const before = contentsOf(place.store)
    for (const argv of [["list"], ["show", "keep"], ["verify", "--all"], ["import", "in.jsonl"]]) {
      const result = await cli(place, ...argv)
      expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
      expect(result.stderr).toContain("EACCES")
    }
    expect(contentsOf(place.store)).toEqual(before)
  },
)
