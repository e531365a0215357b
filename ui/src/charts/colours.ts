// So many colours can be told apart; every further line is grey.
const COLOURS = 8;

/** The class of the colour at a place. */
export const colour = (at: number): string => (at < COLOURS ? `c${at}` : GREY);

/** The class of lines without a colour of their own. */
export const GREY = "cx";
