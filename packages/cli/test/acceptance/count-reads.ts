/** `count-reads.ts CWD ARGS…`: runs the command, then prints to standard error how many bytes it has read. */
import { readFileSync } from "node:fs"
import { processIo, run } from "@sessions/cli"

const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1])

const [cwd = "", ...argv] = process.argv.slice(2)
const before = bytesRead()
const exit = await run(argv, { ...processIo(), cwd })
process.stderr.write(`${bytesRead() - before}\n`)
process.exitCode = exit
