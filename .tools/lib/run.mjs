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

/**
 * Runs a command from the root with the workspace's tools first in PATH, and returns `{ code, output }`. After `timeout` it kills the
 * command's whole process group, since the workers of a test runner would keep its pipes open.
 */
export function run(command, args, { env = {}, cwd = root, shell = false, timeout = 30 * 60_000 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      shell,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1", ...env, PATH: toolPath() },
    })
    running.add(child)
    let output = ""
    const timer = setTimeout(() => {
      output += `\nkilled after ${timeout / 1000} s\n`
      killGroup(child)
    }, timeout)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text
      })
    }
    const finish = (code) => {
      clearTimeout(timer)
      running.delete(child)
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

function toolPath() {
  return [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter)
}

function killGroup(child) {
  try {
    if (process.platform === "win32") child.kill("SIGKILL")
    else process.kill(-child.pid, "SIGKILL")
  } catch (error) {
    if (error.code !== "ESRCH") throw error
  }
}
