/** How a person calls the program: in a checkout, where the code is not compiled, through npm. */
export const programName = import.meta.filename.endsWith('.js') ? 'kopeck' : 'npx kopeck';
