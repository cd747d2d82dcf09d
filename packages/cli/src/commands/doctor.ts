/** Checks what a command needs: the runtime, its own version, the store with the rights in its folder, and the free space. Changes nothing. */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { access, rename, stat, statfs } from "node:fs/promises"
import { dirname, join } from "node:path"
import { createSessions } from "@sessions/core"
import { VERSION } from "@sessions/core/format"
import { piLogs } from "@sessions/core/migrations"
import { type Command, defineCommand, type Invocation } from "../command.ts"
import { EXIT_FAILED } from "../errors.ts"
import type { Io } from "../io.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { pathOfStore } from "../store/open.ts"
import { CLI_VERSION } from "../version.ts"

interface Check {
  readonly name: string
  readonly status: "ok" | "warning" | "failed"
  readonly message: string
}

/** The oldest Node that the packages run on: the first with `node:sqlite` without a flag. */
const OLDEST = [22, 13] as const
/** A session may have 200 MB. */
const LOW_SPACE = 500e6

const VERSIONS: Check = {
  name: "versions",
  status: "ok",
  message: `sessions ${CLI_VERSION}, which writes logs of version ${VERSION}`,
}

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "check the runtime, the versions, the store, the rights in its folder and the free space",
  args: [],
  options: {},
  notes: ["Changes nothing. The exit status is 1 if a check failed."],
  examples: ["doctor", "doctor --store sqlite:./sessions.db", "doctor --json"],
  usesStore: false,
  async run({ store, io, openTarget }) {
    const checks = [runtimeCheck(), VERSIONS, await storeCheck(store, openTarget), ...(await folderChecks(store, io))]
    const failed = checks.some(({ status }) => status === "failed")
    return { json: { checks }, text: () => checks.map(checkLine), exit: failed ? EXIT_FAILED : 0 }
  },
})

function runtimeCheck(): Check {
  const { bun, deno, node } = process.versions
  const name = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : `Node ${node}`
  const message = `${name} on ${process.platform} ${process.arch}`
  if (bun !== undefined || deno !== undefined) return { name: "runtime", status: "ok", message }
  const [major = 0, minor = 0] = node.split(".").map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))
    return { name: "runtime", status: "ok", message }
  return { name: "runtime", status: "failed", message: `${message}; install Node ${OLDEST.join(".")} or newer` }
}

async function storeCheck(store: string, open: Invocation["openTarget"]): Promise<Check> {
  try {
    const sessions = createSessions({ storage: await open(store, { create: false }), readers: [piLogs] })
    try {
      const { sessions: newest, unreadable, next } = await sessions.list({ limit: 200 })
      const more = next === undefined ? "" : " or more"
      const found = `${sessions.storage.description}: ${formatCount(newest.length, "session")}${more}`
      if (unreadable.length === 0) return { name: "store", status: "ok", message: found }
      const message = `${found}, ${unreadable.length} unreadable; "sessions verify --all" says why`
      return { name: "store", status: "warning", message }
    } finally {
      await sessions.close()
    }
  } catch (error) {
    return { name: "store", status: "failed", message: error instanceof Error ? error.message : String(error) }
  }
}

/** Of a store with a path: whether this user may write there, and how much fits. Nothing for a path that is not there. */
async function folderChecks(store: string, { cwd }: Io): Promise<Check[]> {
  const place = pathOfStore(store, cwd)
  if (place === undefined) return []
  const folder = place.scheme === "file" ? place.path : dirname(place.path)
  const checks: Check[] = []
  try {
    // Deno's `access` is content with a link that leads nowhere.
    await stat(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    await refuseReadOnly(folder)
    checks.push({ name: "rights", status: "ok", message: `${folder} can be read and written` })
  } catch (error) {
    if (isMissing(error)) return []
    const message = `${folder} cannot be read and written by this user (${String(codeOf(error))})`
    checks.push({ name: "rights", status: "failed", message })
  }
  try {
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    const status = free < LOW_SPACE ? "warning" : "ok"
    checks.push({ name: "space", status, message: `${formatBytes(free)} free in ${folder}` })
  } catch (error) {
    const message = `the free space in ${folder} cannot be found out (${String(codeOf(error))})`
    checks.push({ name: "space", status: "failed", message })
  }
  return checks
}

/** Deno's `access` does not ask whether the file system is read-only. Linux does so before it looks for the name, which nothing has. */
async function refuseReadOnly(folder: string): Promise<void> {
  const nothing = join(folder, `.sessions-${randomUUID()}`)
  await rename(nothing, nothing).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error
  })
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR"
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code
}

const STYLES = { ok: "green", warning: "yellow", failed: "red" } as const

function checkLine({ name, status, message }: Check): Line {
  return [styled(STYLES[status], status.padEnd(8)), ` ${name.padEnd(8)} ${message}`]
}
