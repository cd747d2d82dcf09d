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
  const holder = holderOf(file)
  if (holder !== undefined && !isRunning(holder)) removeOf(holder, file)
  return false
}

/**
 * Removes the file of a process that has ended. Under a lock of its own: without it, of two processes that have seen the same holder, the second
 * could remove the file of the first one.
 */
export function removeOf(holder, file) {
  const guard = `${file}.of-${holder}`
  if (!take(guard)) return
  try {
    if (holderOf(file) === holder) rmSync(file)
  } finally {
    rmSync(guard)
  }
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
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}
