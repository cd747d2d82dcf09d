import { test } from "node:test"
import { checkCommand } from "./command.ts"

void test("the command reports on a subject in TypeScript", () => checkCommand())
