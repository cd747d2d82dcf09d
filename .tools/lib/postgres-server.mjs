// Starts a real PostgreSQL server on a socket in a temporary folder, with fsync, as a user without privileges, which PostgreSQL demands.
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, chownSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Where Debian's package puts the programs of its version. */
export const bin = "/usr/lib/postgresql/15/bin"

const SETTINGS = {
  listen_addresses: "",
  max_connections: 100,
  fsync: "on",
  synchronous_commit: "on",
  shared_buffers: "64MB",
  max_wal_size: "512MB",
}

/** Ends a hang; a busy machine needs many times what an idle one does. */
const HANG_MS = 10 * 60_000

let starting

/**
 * The address of the server that the tests use: SESSIONS_TEST_POSTGRES, or one of their own, started once in a process and stopped at its
 * exit.
 */
export function postgresUrl() {
  const given = process.env.SESSIONS_TEST_POSTGRES
  starting ??= given ? Promise.resolve(given) : startServer().then(({ url }) => url)
  return starting
}

/** Starts a server of its own; `settings` are added to the usual ones. `folder`: an existing empty folder for all of its files. */
export async function startServer({ settings = {}, folder = mkdtempSync(join(tmpdir(), "sessions-pg-")) } = {}) {
  const user = unprivileged()
  chmodSync(folder, 0o755)
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, "data")
  const owner = { ...user, cwd: folder, stdio: ["ignore", "pipe", "pipe"] }
  // The default socket's folder belongs to the system's own server.
  execFileSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
    owner,
  )
  const options = Object.entries({ ...SETTINGS, ...settings, unix_socket_directories: folder })
  const args = ["-D", data, ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`])]
  const output = join(folder, "log")
  let child

  async function start() {
    const log = openSync(output, "a")
    child = spawn(join(bin, "postgres"), args, { ...owner, stdio: ["ignore", log, log] })
    // The server must not keep this process alive.
    child.unref()
    await answers(child)
  }

  async function answers(running) {
    for (const end = Date.now() + HANG_MS; ; await sleep(20)) {
      try {
        execFileSync(join(bin, "pg_isready"), ["-q", "-h", folder], owner)
        return
      } catch {
        if (running.exitCode !== null || Date.now() > end)
          throw new Error(`PostgreSQL did not start:\n${readFileSync(output, "utf8").slice(-2_000)}`)
      }
    }
  }

  const stop = () => {
    // Its child processes end when they notice that it is gone.
    child?.kill("SIGQUIT")
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  process.once("exit", stop)
  await start()
  return {
    url: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`,
    folder,
    /** Kills the server and the processes of its connections without any warning, and starts it again on the same data. */
    async crash() {
      const dead = new Promise((resolve) => child.once("exit", resolve))
      const connections = childrenOf(child.pid)
      child.kill("SIGKILL")
      for (const pid of connections) killIfRunning(pid)
      await dead
      // A process that was about to start when the others were killed ends by itself, and until then the data are in use.
      for (const end = Date.now() + HANG_MS; ; await sleep(200)) {
        try {
          return await start()
        } catch (error) {
          if (!error.message.includes("is still in use") || Date.now() > end) throw error
        }
      }
    },
    stop() {
      process.off("exit", stop)
      stop()
    },
  }
}

/** The processes that another has started, from the status of all processes: the parent's id is the second field after the name. */
function childrenOf(parent) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/stat`, "utf8")
      return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) === parent
    } catch {
      return false
    }
  })
}

function killIfRunning(pid) {
  try {
    process.kill(pid, "SIGKILL")
  } catch (error) {
    if (error.code !== "ESRCH") throw error
  }
}

/** As root the user of Debian's package, else the user of this process. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {}
  const number = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: number("-u"), gid: number("-g") }
}
