/* How good a voice sounds that came over a network. Thread: any. */
#pragma once

/* The mean opinion score, 1 to 4.5, of the short form of ITU-T G.107: from the share of packets
 * lost, 0 to 1, and the variation of their delay. The delay itself is not known here and counts as
 * 40 ms. */
double mos_of(double loss, double jitter_ms);
