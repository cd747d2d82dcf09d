import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { setTimeout } from "node:timers/promises"

const POLL_MS = 100

/** Runs `work` while no other process that asks for the same file does. The file of a process that was killed does not count. */
export async function withLock(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  while (!take(file)) await setTimeout(POLL_MS)
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

function take(file) {
  // The name appears with the content, so that a process that is killed here leaves no file without a holder.
  const own = `${file}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, file)
    return true
  } catch (error) {
    if (error.code !== "EEXIST") throw error
  } finally {
    rmSync(own)
  }
  if (!isRunning(holderOf(file))) rmSync(file, { force: true })
  return false
}

/** Undefined if the file is gone meanwhile. */
function holderOf(file) {
  try {
    return Number.parseInt(readFileSync(file, "utf8"))
  } catch (error) {
    if (error.code === "ENOENT") return undefined
    throw error
  }
}

function isRunning(pid) {
  if (pid === undefined) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}
