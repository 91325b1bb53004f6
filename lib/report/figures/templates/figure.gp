# gnuplot -e "ending='svg'" {0}.gp makes {0}.svg; so for pdf and png.
if (!exists('ending')) ending = 'svg'
if (ending eq 'svg') set terminal svg size {1},{2} dynamic noenhanced font ',13'
if (ending eq 'pdf') set terminal pdfcairo size {3},{4} noenhanced fontscale 0.6 \
    background rgb 'white'
if (ending eq 'png') set terminal pngcairo size {5},{6} noenhanced fontscale 1.6 \
    linewidth 2 pointscale 2 background rgb 'white'
set encoding utf8
set datafile missing 'NaN'
if (!exists('file')) file = '{0}.'.ending
set output file
# Okabe and Ito's colours, except those too light on white: distinct for colour-blind readers.
set linetype 1 linecolor rgb '#0072b2' pointtype 7 dashtype 1
set linetype 2 linecolor rgb '#d55e00' pointtype 9 dashtype (14,5)
set linetype 3 linecolor rgb '#009e73' pointtype 5 dashtype (4,4)
set linetype 4 linecolor rgb '#cc79a7' pointtype 13 dashtype (14,4,3,4)
set linetype 5 linecolor rgb '#e69f00' pointtype 11 dashtype (9,3,2,3,2,3)
set linetype 6 linecolor rgb '#56b4e9' pointtype 6 dashtype 1
set linetype 7 linecolor rgb '#777777' pointtype 8 dashtype (14,5)
set linetype 8 linecolor rgb '#222222' pointtype 4 dashtype (4,4)
set linetype 9 linecolor rgb '#8c564b' pointtype 12 dashtype (14,4,3,4)
set linetype 10 linecolor rgb '#b8a800' pointtype 10 dashtype (9,3,2,3,2,3)
set linetype 11 linecolor rgb '#7b5fc9' pointtype 1 dashtype 1
set title {7}
set grid linecolor rgb 'gray' linewidth 0.6
set border 3
set tics nomirror scale 0.5
set key {8}
