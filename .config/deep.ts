/** Whether the tests in `*.deep.*` files run, which take seconds each: with DEEP, or if an argument names one. */
export const deep: boolean = process.env["DEEP"] !== undefined || process.argv.some((arg) => arg.includes(".deep"))
