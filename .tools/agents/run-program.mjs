// Runs the program of an agent: to its end, to a hold at which it gets a signal, or as a peer that takes and gives JSON lines.
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

/** Longer than any start of a program that downloads nothing. */
const PATIENCE = Number(process.env["PATIENCE"] ?? 300_000)

/** What it has printed. `stop`: the signal that it gets when the model holds; `mayFail`: its exit does not matter. */
export async function runProgram(agent, place, { program = agent.at, args, input }, { stop, mayFail = false } = {}) {
  const child = start(place, program, args)
  child.stdin.end(input ?? "")
  const printed = outputOf(child)
  const end = endOf(child)
  const hold =
    stop === undefined ? undefined : Promise.race([place.model.held().then(() => signalGroup(child, stop)), end])
  const code = await inTime(child, end).catch((error) => {
    throw new Error(`${error.message}\n${printed().slice(-1500)}`, { cause: error })
  })
  const wasStopped = stop !== undefined && (await hold) === true
  if (stop !== undefined && !wasStopped)
    throw new Error(`${agent.title} ended before it was stopped: ${printed().slice(-1500)}`)
  if (code !== 0 && stop === undefined && !mayFail)
    throw new Error(`${agent.title} ended with ${code}: ${printed().slice(-1500)}`)
  return printed()
}

/**
 * `talk({ send, until, child })`: `send` writes a value as a line, `until(test)` is the next line of which it holds, of those that came since the last one that was
 * waited for. When `talk` has ended, so does the input of the program, and it must end as well.
 */
export async function talkTo(agent, place, { program = agent.at, args }, talk) {
  const child = start(place, program, args)
  const printed = outputOf(child)
  const end = endOf(child)
  const lines = []
  let wake = () => undefined
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return
    lines.push(JSON.parse(line))
    wake()
  })
  const until = async (test) => {
    for (;;) {
      while (lines.length > 0) {
        const line = lines.shift()
        if (test(line)) return line
      }
      await new Promise((resolve) => (wake = resolve))
    }
  }
  const send = (value) => child.stdin.write(`${JSON.stringify(value)}\n`)
  const gone = end.then((code) => {
    throw new Error(`${agent.title} ended with ${code}: ${printed().slice(-1500)}`)
  })
  gone.catch(() => undefined)
  try {
    const result = await inTime(child, Promise.race([talk({ send, until, printed }), gone]))
    child.stdin.end()
    await inTime(child, end)
    return result
  } catch (error) {
    throw new Error(`${error.message}\n${printed().slice(-1500)}`, { cause: error })
  } finally {
    killGroup(child)
  }
}

/** Runs it as a server while `work` runs. `ready(line)`: what the line says of it, once it is ready. */
export async function serve(agent, place, { program = agent.at, args }, ready, work) {
  const child = start(place, program, args)
  const printed = outputOf(child)
  try {
    const found = await inTime(
      child,
      new Promise((resolve, reject) => {
        for (const stream of [child.stdout, child.stderr])
          createInterface({ input: stream }).on("line", (line) => {
            const value = ready(line)
            if (value !== undefined) resolve(value)
          })
        child.once("exit", (code) => reject(new Error(`${agent.title} ended with ${code}: ${printed().slice(-1500)}`)))
      }),
    )
    return await inTime(child, work(found))
  } finally {
    const end = endOf(child)
    if (child.exitCode === null) {
      child.kill("SIGTERM")
      await inTime(child, end)
    }
    killGroup(child)
  }
}

const running = new Set()
process.on("exit", () => {
  for (const child of running) killGroup(child)
})

function start({ work, env }, program, args) {
  const options = {
    cwd: work,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  }
  const child = spawn(program, args, options)
  running.add(child)
  child.once("close", () => running.delete(child))
  // A program that does not read its input may have closed it.
  child.stdin.on("error", () => undefined)
  return child
}

function outputOf(child) {
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk))
  return () => output
}

function endOf(child) {
  return new Promise((resolve, reject) =>
    child.once("exit", (code, signal) => resolve(code ?? signal)).once("error", reject),
  )
}

/** Ends the program, and the tools that it has left running, if it takes too long, and these in any case. */
async function inTime(child, work) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${PATIENCE / 1000} s.`)), PATIENCE)
  })
  try {
    return await Promise.race([work, late])
  } catch (error) {
    killGroup(child)
    throw error
  } finally {
    clearTimeout(timer)
    if (child.exitCode !== null || child.signalCode !== null) killGroup(child)
  }
}

function killGroup(child) {
  signalGroup(child, "SIGKILL")
}

/** As a terminal does: a program may have started itself again. True if it was there. */
function signalGroup({ pid }, signal) {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if (error.code !== "ESRCH") throw error
    return false
  }
}
