import { deepValueTest } from "../../test/any-value.ts"

deepValueTest(6)
