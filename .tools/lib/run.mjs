import { AsyncLocalStorage } from "node:async_hooks"
import { spawn } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./workspace.mjs"

const running = new Set()
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const child of running) killGroup(child)
    process.exit(1)
  })
}

/** Where Node keeps what it has compiled: a run starts thousands of processes that load the same modules. */
const COMPILED = join(root, ".reports", "compile-cache")

const meter = new AsyncLocalStorage()

/** The result of `work` and the CPU seconds of the commands that it runs, and of what these run and wait for. */
export async function measured(work) {
  const used = { cpu: 0 }
  const result = await meter.run(used, work)
  return { result, cpu: used.cpu }
}

/** The built-in `times` prints its own time and that of its children, as in `0m1.250000s 0m0.500000s`, a line each. */
const TIMED = `"$@" 3>&-; code=$?; times >&3; exit $code`
const isPosix = process.platform !== "win32"

/**
 * Runs a command from the root with the workspace's tools first in PATH, and returns `{ code, output }`. After `timeout` it kills the
 * command's whole process group, since the workers of a test runner would keep its pipes open.
 */
export function run(command, args, { env = {}, cwd = root, shell = false, timeout = 30 * 60_000 } = {}) {
  return new Promise((resolve) => {
    const line = shell ? ["sh", "-c", command] : [command, ...args]
    const [program, ...rest] = isPosix ? ["sh", "-c", TIMED, "sh", ...line] : [command, ...args]
    const child = spawn(program, rest, {
      cwd,
      shell: shell && !isPosix,
      detached: isPosix,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", NODE_COMPILE_CACHE: COMPILED, ...env, PATH: toolPath() },
    })
    running.add(child)
    let output = ""
    const timer = setTimeout(() => {
      output += `\nkilled after ${timeout / 1000} s\n`
      killGroup(child)
    }, timeout)
    let times = ""
    const used = meter.getStore()
    child.stdio[3].setEncoding("utf8").on("data", (text) => {
      times += text
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    const finish = (code) => {
      clearTimeout(timer)
      running.delete(child)
      if (used !== undefined) used.cpu += secondsOf(times)
      resolve({ code, output })
    }
    child.on("error", (error) => {
      output += String(error)
      finish(127)
    })
    child.on("close", (code) => finish(code ?? 1))
  })
}

/** Runs a script of the root package.json. */
export function runScript(script, options) {
  return run(script, [], { ...options, shell: true })
}

function secondsOf(times) {
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + 60 * minutes + Number(seconds),
    0,
  )
}

function toolPath() {
  return [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
}

function killGroup(child) {
  try {
    if (isPosix) process.kill(-child.pid, "SIGKILL")
    else child.kill("SIGKILL")
  } catch (error) {
    if (error.code !== "ESRCH") throw error
  }
}
